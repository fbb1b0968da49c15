# An image to grade in: Debian 12 with this workbook and bubblewrap. labs/README.md says how to run it, and which sandbox
# it gets. From the workbook's folder: podman build --file labs/Containerfile --tag warpbook-grading .
# docker build takes the same arguments.
FROM docker.io/library/debian:12-slim

RUN apt-get update \
 && apt-get install --yes --no-install-recommends bubblewrap make python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*

# Students' code never runs as root, not even inside the sandbox.
RUN useradd --create-home --uid 1000 grader \
 && install --directory --owner grader /warpbook /class
USER grader
WORKDIR /warpbook

# The environment first, so that a change of a chapter doesn't install it again.
COPY --chown=grader Makefile pyproject.toml constraints.txt README.md LICENSE LICENSE-text ./
COPY --chown=grader helpers helpers
COPY --chown=grader vgpu vgpu
RUN make environment
COPY --chown=grader labs labs
COPY --chown=grader notebooks notebooks

ENV PATH="/warpbook/.venv/bin:$PATH" VGPU_CACHE=/home/grader/cache
WORKDIR /class
ENTRYPOINT ["warpbook"]
CMD ["doctor"]
