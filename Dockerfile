# The course in a container, with PyTorch for CPUs: JupyterLab on port 8888, as a user who isn't root.
#     docker build --tag warpbook .
#     docker run --rm --interactive --tty --publish 127.0.0.1:8888:8888 --volume warpbook:/home/learner/.local warpbook
# Binder builds the same file, and .devcontainer/ names it for Codespaces and VS Code. `--target grading` makes an image
# to grade in: labs/TEACHING.md says how to run it.
FROM docker.io/library/debian:12-slim AS machine
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates git make python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --uid 1000 --shell /bin/bash learner \
 && install --directory --owner learner /warpbook /wheels
# The environment lies outside the course, so that a checkout can be mounted over the course.
ENV VENV=/home/learner/venv
ENV PATH="$VENV/bin:$PATH"
USER learner
WORKDIR /warpbook

# Some packages are large. What no chapter needs goes, and pip still knows of every file: debugging information, static
# libraries, tests, PyTorch's headers, what Triton's profiler needs on a GPU, and NVRTC's second copy. NumPy's libraries
# don't load any more once they are stripped; unzip keeps what is executable so, wheel's own unpack doesn't.
FROM machine AS environment
USER root
RUN apt-get update && apt-get install --yes --no-install-recommends binutils python3-wheel unzip
USER learner
RUN python3 -m venv "$VENV" && echo cupy test > "$VENV/.without"
WORKDIR /wheels
COPY --chown=learner constraints.txt .
RUN pip download --no-deps --constraint constraints.txt \
    --index-url https://download.pytorch.org/whl/cpu torch
RUN pip download --no-deps --constraint constraints.txt \
    llvmlite networkx numba numpy nvidia-cuda-nvrtc scikit-learn scipy sympy triton
RUN for wheel in *.whl; do unzip -q "$wheel" -d "${wheel%-*-*-*}" && rm "$wheel" || exit 1; done \
 && rm -rf torch-*/torch/test torch-*/torch/include torch-*/torch/bin/test_* torch-*/torch/bin/protoc* \
    triton-*/triton/backends/nvidia/lib/cupti \
 && find . -type d -name tests -prune -exec rm -r {} + \
 && find . -name '*.a' -delete -o -name 'lib*.alt.so*' -delete \
 && find llvmlite-* nvidia_* torch-* triton-* -name '*.so*' -type f -exec strip --strip-unneeded {} + \
 && for folder in */; do /usr/bin/python3 -m wheel pack "$folder" || exit 1; done
RUN pip install --no-deps *.whl
WORKDIR /warpbook
COPY --chown=learner Makefile pyproject.toml constraints.txt README.md LICENSE LICENSE-text ./
COPY --chown=learner helpers helpers
COPY --chown=learner vgpu vgpu
RUN make environment

FROM machine AS course
COPY --from=environment --chown=learner /home/learner/venv /home/learner/venv
COPY --chown=learner . .

# Students' code never runs as root, not even inside the sandbox.
FROM course AS grading
USER root
RUN apt-get update \
 && apt-get install --yes --no-install-recommends bubblewrap \
 && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner learner /class
USER learner
RUN echo cupy > "$VENV/.without" && make environment
WORKDIR /class
ENTRYPOINT ["warpbook"]
CMD ["doctor"]

FROM course AS lab
# A volume is mounted over ~/.local to keep answers; it belongs to the user if the folder is there already.
RUN mkdir -p ~/.jupyter ~/.local/share && echo 'c.ServerApp.ip = "0.0.0.0"' > ~/.jupyter/jupyter_server_config.py
EXPOSE 8888
CMD ["warpbook", "lab"]
