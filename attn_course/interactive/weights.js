// Trained weights in the page. They lie in a script of their own, because a page from the disk may
// load scripts and nothing else, and it is fetched when a reader first acts; a kernel shows it with
// the figure. The script holds the file of `attn_course.trained` as it is, in the format of
// safetensors, in letters.
const weightsAddress = (name) =>
  `${document.documentElement.dataset.content_root ?? "./"}_static/weights/${name}.js`;

// A number in half precision: sign, five bits of exponent, ten of fraction.
const half = (bits) => {
  const sign = bits >> 15 ? -1 : 1,
    exponent = (bits >> 10) & 31,
    fraction = bits & 1023;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction);
};

// The tensors of a file, by name, and what else it says.
const readWeights = (letters) => {
  const bytes = Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer),
    start = 8 + Number(view.getBigUint64(0, true));
  const { __metadata__: said = {}, ...tensors } = JSON.parse(
    new TextDecoder().decode(bytes.subarray(8, start)),
  );
  for (const name in tensors) {
    const {
      dtype,
      shape,
      data_offsets: [from, to],
    } = tensors[name];
    const wide = { I8: 1, U8: 1, F16: 2, F32: 4 }[dtype],
      data = new Float32Array((to - from) / wide);
    for (let i = 0; i < data.length; i++) {
      const at = start + from + wide * i;
      if (dtype === "I8") data[i] = view.getInt8(at);
      else if (wide === 1) data[i] = view.getUint8(at) / 255; // a share: the largest byte is 1
      else data[i] = wide === 2 ? half(view.getUint16(at, true)) : view.getFloat32(at, true);
    }
    tensors[name] = { shape, data };
  }
  // whole numbers of 8 bits, with a factor for each row
  for (const name of Object.keys(tensors).filter((one) => `${one}.factor` in tensors)) {
    const { shape, data } = tensors[name],
      factors = tensors[`${name}.factor`].data;
    for (let i = 0; i < data.length; i++) data[i] *= factors[Math.floor(i / shape[1])];
  }
  return { tensors, said };
};

// A layer by its name: `score.project_key` has the tensors `score.project_key.weight` and `.bias`.
const layerOf = (tensors) => (name) => ({
  weight: tensors[`${name}.weight`],
  bias: tensors[`${name}.bias`],
});

// The two layers of a recurrent cell; `suffix` ends PyTorch's names.
const cellOf =
  (tensors) =>
  (name, suffix = "") => {
    const part = (end) => ({
      weight: tensors[`${name}.weight_${end}${suffix}`],
      bias: tensors[`${name}.bias_${end}${suffix}`],
    });
    return { input: part("ih"), hidden: part("hh") };
  };

// Fetch weights once for all figures of the page.
const fetchWeights = (name) => {
  const loads = (window.attnLoads ??= {});
  return (loads[name] ??= new Promise((resolve, reject) => {
    const read = () => resolve(readWeights(window.attnWeights[name]));
    if (window.attnWeights?.[name]) return read();
    const script = document.createElement("script");
    script.src = weightsAddress(name);
    script.onload = read;
    script.onerror = () => {
      delete loads[name]; // the next try may find them
      reject(new Error(`the weights ${script.src} cannot be read`));
    };
    document.head.append(script);
  }));
};

// What follows an act of the reader. The weights that it `needs` are fetched once, `make` makes
// models of them, and `answer` gets them all by name. Of acts in a row the last is answered.
const attnAnswers = ({ trouble }, { needs, make, answer, stays = "picture" }) => {
  const made = {};
  let asked = 0;
  return async () => {
    const mine = ++asked,
      missing = needs().filter((name) => !made[name]);
    const fetch = async (name) => (made[name] = make(await fetchWeights(name), name));
    if (missing.length) {
      // from the disk they are here at once, and a line that comes and goes moves the page
      const slow = setTimeout(trouble, 300, "One moment: the weights are on their way.");
      try {
        await Promise.all(missing.map(fetch));
      } catch (error) {
        return trouble(`${error.message}. The ${stays} stays as it is.`);
      } finally {
        clearTimeout(slow);
      }
    }
    if (mine !== asked) return;
    trouble();
    answer(made);
  };
};
