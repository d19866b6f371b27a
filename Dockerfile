# The image of `docker compose up -d --build`: ki, and a process that stays up for `docker compose exec app ki sync`.
FROM python:3.11-slim AS build

# PyTorch's index of CPU wheels goes here (README.md); without it, pip may bring a build for graphics cards of some GB.
ARG PIP_EXTRA_INDEX_URL=""

WORKDIR /build
RUN python -m venv /opt/ki
COPY pyproject.toml constraints.txt README.md LICENSE ./
# The dependencies first, under an empty package, so that a change of code does not fetch them again.
RUN mkdir -p src/knowledge_index && touch src/knowledge_index/__init__.py \
    && /opt/ki/bin/pip install --no-cache-dir -c constraints.txt . \
    && /opt/ki/bin/pip uninstall --yes knowledge_index \
    && rm -r src
COPY src ./src
RUN /opt/ki/bin/pip install --no-cache-dir --no-deps .


FROM python:3.11-slim

# The home belongs to the user; a new volume takes over owner and mode.
RUN useradd --uid 10001 --user-group --home-dir /data --no-create-home --shell /usr/sbin/nologin ki \
    && install --directory --owner=ki --group=ki --mode=0700 /data
COPY --from=build /opt/ki /opt/ki

ENV PATH="/opt/ki/bin:$PATH" \
    KI_HOME=/data \
    HOME=/data \
    PYTHONDONTWRITEBYTECODE=1

VOLUME /data
# By number, so that an orchestrator can tell that it is not root.
USER 10001:10001
WORKDIR /data

HEALTHCHECK --interval=60s --timeout=20s --start-period=10s --retries=3 CMD ["ki", "status", "--json"]
CMD ["sleep", "infinity"]
