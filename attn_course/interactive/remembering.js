// The function, which remembers its last answer: what was not turned is not computed again.
const remembering = (compute) => {
  let asked, answer;
  return (...inputs) => {
    if (String(inputs) !== asked) [asked, answer] = [String(inputs), compute(...inputs)];
    return answer;
  };
};
