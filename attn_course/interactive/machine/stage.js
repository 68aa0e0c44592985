// The place of a picture that scripts alone draw: its stored first states, wide and narrow, give way
// to the pen, which draws again whenever there is more room, or less.
const NARROW = 600; // pixels

const takeStage = (picture, pen, width, paint) => {
  for (const other of picture.parentElement.querySelectorAll("svg ~ svg")) other.remove();
  picture.replaceChildren();
  picture.setAttribute("role", "group"); // an image would hide what can be taken in it
  listenToHands(picture, pen);
  listenToKeys(picture, pen);
  const fit = () => {
    const now = picture.parentElement.clientWidth || width;
    if (now === pen.width) return;
    Object.assign(pen, { width: now, narrow: now < NARROW });
    paint();
  };
  fit();
  new ResizeObserver(fit).observe(picture.parentElement);
};
