// Rubric items below each cell that a person grades; nbgrader's formgrader has none.
(function () {
  const ADDRESS = `${base_url}/rubric/${submission_id}`;
  const LETTERS = "abcdefghijklmnopqrstuvwxyz";
  const panels = new Map(); // by cell
  let last = Promise.resolve(); // what was clicked is sent in its order
  let waiting = 0;

  const make = (tag, properties, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  const ask = async (method, body) => {
    const headers = { "X-XSRFToken": getCookie("_xsrf") || "" };
    const what = body ? { body: JSON.stringify(body), keepalive: true } : {};
    const answer = await fetch(ADDRESS, { method, headers, ...what });
    const nothing = { message: `Nothing was saved: the server answers ${answer.status}.` };
    const said = await answer.json().catch(() => nothing);
    if (!answer.ok) throw new Error(said.message || nothing.message);
    return said;
  };

  // nbgrader's own request, which saves the comment that was being written, goes first
  const quiet = () =>
    new Promise((resolve) => ($.active ? $(document).one("ajaxStop", resolve) : resolve()));

  const send = (panel, method, body) => {
    waiting += 1;
    const sent = last.then(quiet).then(() => ask(method, body));
    last = sent
      .then(
        (told) => {
          panel.complain(told.message);
          show(told);
          return true;
        },
        (error) => panel.complain(error.message),
      )
      .finally(() => {
        waiting -= 1;
      });
    return last;
  };

  class Panel {
    constructor(cell, comment) {
      this.cell = cell;
      this.items = [];
      this.comment = comment;
      this.list = make("div", { className: "items" });
      this.fields = this.makeFields();
      this.alert = make("div", {});
      this.alert.setAttribute("role", "alert");
      this.box = make("div", { className: "rubric" }, this.list, this.fields, this.alert);
      this.box.setAttribute("role", "group");
      this.box.setAttribute("aria-label", `Rubric items of ${cell}`);
      this.box.addEventListener("keydown", (event) => this.keep(event));
      // Tab goes on to the items, and not to nbgrader's next field
      comment.addEventListener("keydown", (event) => {
        if (event.key === "Tab" && !event.shiftKey) event.stopPropagation();
      });
      comment.closest(".panel-footer").append(this.box);
    }

    // nbgrader takes Enter and Tab everywhere on the page for its own
    keep(event) {
      const typed = event.target.matches("input");
      if (typed || event.key === "Enter" || event.key === "Tab") event.stopPropagation();
      if (typed && event.key === "Escape") {
        this.complain("");
        this.edit(null);
      }
      if (typed && event.key === "Enter") this.save();
    }

    complain(message) {
      this.alert.textContent = message;
    }

    makeFields() {
      const field = (name, label) => {
        const made = make("input", { name, className: "form-control", placeholder: label });
        made.setAttribute("aria-label", label);
        return made;
      };
      this.points = field("points", "Points");
      this.sentence = field("sentence", "What the student reads");
      const save = make("button", { type: "button", className: "btn btn-primary btn-sm" }, "Save");
      save.addEventListener("click", () => this.save());
      const all = [this.points, this.sentence, save];
      return make("div", { className: "fields", hidden: true }, ...all);
    }

    save() {
      if (this.saving) return; // Enter was pressed twice
      this.saving = true;
      const item = this.edited ? this.edited.name : "";
      const written = { points: this.points.value, sentence: this.sentence.value };
      const sent = send(this, "POST", { cell: this.cell, item, ...written });
      sent.then((saved) => {
        this.saving = false;
        if (saved) this.edit(null);
      });
    }

    // Open the fields for an item, or for a new one, or close them
    edit(item, isNew) {
      const was = this.edited;
      this.edited = item;
      this.fields.hidden = !item && !isNew;
      this.points.value = item ? item.points : "";
      this.sentence.value = item ? item.sentence : "";
      if (this.fields.hidden) {
        this.focus(`change ${was ? was.name : ""}`);
        return;
      }
      this.complain("");
      this.points.focus();
    }

    focus(key) {
      const found = [...this.list.querySelectorAll("button")].find((b) => b.dataset.key === key);
      if (found) found.focus();
    }

    draw(items) {
      const key = document.activeElement && document.activeElement.dataset.key;
      const had = this.list.contains(document.activeElement);
      this.items = items;
      const more = make("button", { type: "button", className: "btn btn-default btn-sm" });
      more.textContent = "New item";
      more.dataset.key = "change ";
      more.addEventListener("click", () => this.edit(null, true));
      this.list.replaceChildren(
        ...items.map((item, place) => this.pair(item, LETTERS[place])),
        more,
      );
      this.press();
      if (had) this.focus(key);
    }

    pair(item, letter) {
      const points = item.points > 0 ? `+${item.points}` : `${item.points}`.replace("-", "−");
      const button = make("button", { type: "button", className: "btn btn-default btn-sm" });
      button.dataset.key = item.name;
      if (letter) button.append(make("kbd", {}, letter), " ");
      button.append(`${points} ${item.sentence}`);
      button.addEventListener("click", () => {
        const applied = button.getAttribute("aria-pressed") === "true" ? "no" : "yes";
        button.setAttribute("aria-pressed", `${applied === "yes"}`);
        send(this, "PUT", { cell: this.cell, item: item.name, applied }).then(() => this.press());
      });
      const change = make("button", { type: "button", className: "btn btn-default btn-sm" }, "✎");
      change.dataset.key = `change ${item.name}`;
      change.title = "Change it for everybody";
      change.setAttribute("aria-label", `Change for everybody: ${item.sentence}`);
      change.addEventListener("click", () => this.edit(item));
      return make("span", { className: "btn-group" }, button, change);
    }

    buttons() {
      return this.list.querySelectorAll(".btn-group > :first-child");
    }

    // The comment says which items the answer has
    press() {
      const lines = this.comment.value.split("\n").map((line) => line.trimEnd());
      const buttons = this.buttons();
      this.items.forEach((item, place) => {
        const has = lines.some((line) => line.endsWith(`<!-- ${item.name} -->`));
        buttons[place].setAttribute("aria-pressed", `${has}`);
      });
    }
  }

  const show = (told) => {
    for (const [kind, found] of [
      ["grades", told.grades],
      ["comments", told.comments],
    ]) {
      for (const values of found) {
        const model = formgrader[kind].findWhere({ name: values.name });
        if (model) model.set(values);
      }
    }
    autosize.update($(".comment"));
    for (const [cell, items] of Object.entries(told.items)) {
      const comment = document.getElementById(`${cell}-comment`);
      if (!comment) continue;
      if (!panels.has(cell)) panels.set(cell, new Panel(cell, comment));
      panels.get(cell).draw(items);
    }
  };

  // nbgrader opens a page at its top, unless the one before was left at some field
  const goToAnswer = () => {
    const [panel] = panels.values();
    if (formgrader.current_index > 0 || !panel) return;
    panel.box.closest(".nbgrader_cell").querySelector(".score").focus();
  };

  // A letter clicks its item, unless words are being written; a field of points takes no letters
  const clickItem = (event) => {
    const place = LETTERS.indexOf(event.key.toLowerCase());
    if (event.ctrlKey || event.altKey || event.metaKey || event.key.length > 1 || place < 0) return;
    if (event.target.matches("input:not([type='number']), textarea, select")) return;
    const cell = formgrader.last_selected && formgrader.last_selected.closest(".nbgrader_cell")[0];
    const all = [...panels.values()];
    const panel = all.find((one) => cell && cell.contains(one.box)) || all[0];
    const button = panel && panel.buttons()[place];
    if (!button) return;
    event.preventDefault();
    button.click();
  };

  // The page is left only when what was clicked is saved
  const leave = (event) => {
    const link = event.target.closest("a[href]");
    if (!waiting || !link || event.defaultPrevented) return;
    event.preventDefault();
    last.then(() => link.click());
  };

  $(window).on("load", () => {
    const save = FormGrader.prototype.save;
    FormGrader.prototype.save = function (then) {
      last.then(() => save.call(this, then));
    };
    formgrader.keyboard_manager.help["a ... z"] =
      "Give the answer this rubric item, or take it away";
    formgrader.comments.on("change sync", () => panels.forEach((one) => one.press()));
    document.addEventListener("keydown", clickItem);
    document.addEventListener("click", leave);
    const opened = ask("GET").then(show).then(goToAnswer);
    opened.catch((error) => {
      const said = make("p", { className: "alert alert-warning" }, error.message);
      said.setAttribute("role", "alert");
      document.getElementById("notebook-container").prepend(said);
    });
  });
})();
