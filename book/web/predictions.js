/* Remembers, in this browser only, which choice of a prediction was opened first. */
(function () {
  "use strict";

  const KEY = "predictions"; // name → { choice, right }

  function made() {
    try {
      const all = Object.entries(JSON.parse(localStorage.getItem(KEY)) || {});
      return Object.fromEntries(all.filter(([, answer]) => answer && "choice" in Object(answer)));
    } catch {
      return {}; // no storage, or not ours
    }
  }

  function keep(all) {
    try {
      localStorage.setItem(KEY, JSON.stringify(all));
    } catch {
      // private windows may refuse: the choices still answer
    }
  }

  function markFirst(choice) {
    const mark = document.createElement("span");
    mark.className = "first";
    mark.textContent = "your prediction";
    choice.querySelector("summary").append(" ", mark);
  }

  function follow(question) {
    const name = question.dataset.prediction;
    const choices = [...question.querySelectorAll("details")];
    const before = made()[name];
    if (before && choices[before.choice]) markFirst(choices[before.choice]);
    choices.forEach((choice, index) => choice.addEventListener("toggle", () => {
      const all = made();
      if (!choice.open || all[name]) return;
      keep({ ...all, [name]: { choice: index, right: choice.classList.contains("right") } });
      markFirst(choice);
    }));
  }

  function report(line) {
    const answers = Object.values(made());
    if (!answers.length) return;
    const right = answers.filter((answer) => answer.right).length;
    const forget = document.createElement("button");
    forget.type = "button";
    forget.textContent = "Forget them";
    forget.addEventListener("click", () => {
      try {
        localStorage.removeItem(KEY);
      } catch {
        return;
      }
      line.textContent = "Your predictions are forgotten.";
    });
    line.replaceChildren(
      `You have made ${answers.length} prediction${answers.length === 1 ? "" : "s"}, ${right} of them right. ` +
      "They are kept in this browser and nowhere else. ", forget);
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".prediction[data-prediction]").forEach(follow);
    document.querySelectorAll("#where-you-are > p").forEach(report);
  });
})();
