// The tables of nbgrader's formgrader, with the states of `hintgrader` beside nbgrader's own.
(function () {
  const LABELS = {
    "cheated?": "label-danger",
    unreadable: "label-default",
    "not graded": "label-warning",
  };

  const show = function () {
    const state = this.model.get("state");
    if (!Object.hasOwn(LABELS, state)) return;
    const label = $("<span/>").addClass(`label ${LABELS[state]}`).text(state);
    if (state === "cheated?") {
      (this.$status || this.$score).append(" ", label);
      return;
    }
    // no points were given, and none were lost
    if (this.$status) this.$status.empty().append(label);
    this.$score.attr("data-order", -1).text("");
    if (!this.$status) this.$score.append(label);
  };

  for (const view of [window.SubmissionUI, window.SubmittedNotebookUI]) {
    if (!view) continue;
    const render = view.prototype.render;
    view.prototype.render = function () {
      render.call(this);
      show.call(this);
    };
  }
})();
