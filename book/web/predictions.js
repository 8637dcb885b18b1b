/* Remembers, in this browser only, which choice of a prediction was opened first and which exercises a
 * reader calls right, and says so on the first page. */
(function () {
  "use strict";

  const PREDICTIONS = "predictions"; // name → { choice, right }
  const EXERCISES = "exercises"; // label → { right }

  function kept(key, field) {
    try {
      const all = Object.entries(JSON.parse(localStorage.getItem(key)) || {});
      return Object.fromEntries(all.filter(([, answer]) => answer && field in Object(answer)));
    } catch {
      return {}; // no storage, or not ours
    }
  }

  const made = () => kept(PREDICTIONS, "choice");
  const solved = () => kept(EXERCISES, "right");

  function keep(key, all) {
    try {
      localStorage.setItem(key, JSON.stringify(all));
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
      keep(PREDICTIONS, { ...all, [name]: { choice: index, right: choice.classList.contains("right") } });
      markFirst(choice);
    }));
  }

  /* The check runs in a notebook, which this page cannot see: the reader says so. */
  function offer(exercise) {
    const label = document.createElement("label");
    const box = Object.assign(document.createElement("input"), { type: "checkbox" });
    box.checked = exercise.id in solved();
    box.addEventListener("change", () => {
      const { [exercise.id]: _, ...others } = solved();
      keep(EXERCISES, box.checked ? { ...others, [exercise.id]: { right: true } } : others);
    });
    label.className = "solved";
    label.append(box, " Its check says right");
    exercise.append(label);
  }

  const counted = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

  function report(line) {
    const answers = Object.values(made());
    const exercises = Object.keys(solved()).length;
    if (!answers.length && !exercises) return;
    const right = answers.filter((answer) => answer.right).length;
    const forget = document.createElement("button");
    forget.type = "button";
    forget.textContent = "Forget them";
    forget.addEventListener("click", () => {
      try {
        [PREDICTIONS, EXERCISES].forEach((key) => localStorage.removeItem(key));
      } catch {
        return;
      }
      line.textContent = "What you predicted and solved is forgotten.";
    });
    line.replaceChildren(
      `You have made ${counted(answers.length, "prediction")}, ${right} of them right, and have ` +
      `${counted(exercises, "exercise")} right. This is kept in this browser and nowhere else. `, forget);
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".prediction[data-prediction]").forEach(follow);
    document.querySelectorAll(".exercise[id^=ex-]").forEach(offer);
    document.querySelectorAll("#where-you-are > p:first-of-type").forEach(report);
  });
})();
