// The place of a picture in the pixels of the page: the pen draws again whenever there is more room,
// or less.
const NARROW = 600; // pixels

const takeStage = (picture, pen, width, paint) => {
  picture.classList.add("attn-machine");
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
