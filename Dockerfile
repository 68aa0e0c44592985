# The course with everything in it: the built book at port 8000, JupyterLab with the problem sets at
# port 8888. The steps are lines of tools/container.sh, which runs on any Debian as well.
FROM debian:bookworm-20251103-slim

ARG NB_USER=jovyan
ARG NB_UID=1000
RUN useradd --create-home --uid "$NB_UID" "$NB_USER"
WORKDIR /home/$NB_USER/course
COPY --chown=$NB_UID . .
RUN tools/container.sh system
USER $NB_USER
RUN tools/container.sh course
EXPOSE 8000 8888
ENV PATH="/home/$NB_USER/course/.venv/bin:$PATH"
CMD ["tools/container.sh", "serve"]
