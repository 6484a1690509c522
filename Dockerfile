FROM python:3.11-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app
COPY requirements/runtime.txt requirements/runtime.txt
RUN python -m venv /venv \
 && /venv/bin/python -m pip install --require-hashes -r requirements/runtime.txt

FROM python:3.11-slim-bookworm
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    GPUBOT_DATABASE=sqlite:////data/gpubot.sqlite PORT=3000
RUN useradd --system --uid 10001 --home-dir /data --create-home gpubot
WORKDIR /app
COPY --from=build /venv /venv
COPY bot bot
COPY handlers handlers
COPY storage storage
USER 10001
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["python", "-c", "import os,urllib.request as u; u.urlopen('http://127.0.0.1:'+os.environ['PORT']+'/healthz', timeout=4)"]
ENTRYPOINT ["python", "-m", "bot"]
