# docker build -t sched-lab . && docker run --rm --read-only --tmpfs /tmp -p 8501:8501 sched-lab
FROM python:3.11-slim

ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1

# Dependencies first: a change of ours does not install them again.
WORKDIR /srv/sched-lab
COPY requirements.txt constraints.txt ./
RUN pip install -r requirements.txt -c constraints.txt

# Run from the project's root: `sched` is also a module of the standard library, and ours must come first.
COPY .streamlit .streamlit
COPY scenarios scenarios
COPY sched sched
COPY app.py LICENSE ./
RUN python -m compileall -q sched app.py \
    && mkdir /store && chown 10001:10001 /store

# No home, no name, no right to write but in the store of uploaded traces (mount a volume to keep it) and /tmp.
ENV HOME=/nonexistent \
    SCHED_STORE=/store
VOLUME ["/store"]
USER 10001:10001

EXPOSE 8501
# The body is checked because an unknown path answers 200 with the page itself. slim has no curl.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; assert u.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4).read() == b'ok'"]
CMD ["python", "-m", "streamlit", "run", "app.py", "--server.address=0.0.0.0", "--server.port=8501"]
