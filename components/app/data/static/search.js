// Records the microphone as a WAV file in the form. Without this script the form takes files and text.
"use strict";

const LONGEST_SECONDS = 20;
const BLOCK = 4096;
const form = document.getElementById("ask");
const say = (name) => { const status = document.getElementById("status"); status.textContent = name ? status.dataset[name] : ""; };
let recording = null;

/** Return 16-bit mono WAV of blocks of samples; the server converts the rate. */
function wav(blocks, rate) {
  const count = blocks.reduce((sum, block) => sum + block.length, 0);
  const view = new DataView(new ArrayBuffer(44 + 2 * count));
  const text = (place, value) => [...value].forEach((letter, index) => view.setUint8(place + index, letter.charCodeAt(0)));
  text(0, "RIFF"); view.setUint32(4, 36 + 2 * count, true); text(8, "WAVEfmt ");
  view.setUint32(16, 16, true); view.setUint16(20, 1, true); view.setUint16(22, 1, true);
  view.setUint32(24, rate, true); view.setUint32(28, 2 * rate, true); view.setUint16(32, 2, true); view.setUint16(34, 16, true);
  text(36, "data"); view.setUint32(40, 2 * count, true);
  let place = 44;
  for (const block of blocks) {
    for (const sample of block) {
      view.setInt16(place, Math.round(32767 * Math.max(-1, Math.min(1, sample))), true);
      place += 2;
    }
  }
  return view.buffer;
}

/** Connect the microphone to `take`, which gets blocks of samples. */
async function listen(context, source, take) {
  if (context.audioWorklet) {
    await context.audioWorklet.addModule("/static/recorder.js");
    const node = new AudioWorkletNode(context, "recorder", { numberOfOutputs: 0 });
    node.port.onmessage = (message) => take(message.data);
    source.connect(node);
    return;
  }
  const node = context.createScriptProcessor(BLOCK, 1, 1);
  node.onaudioprocess = (event) => take(event.inputBuffer.getChannelData(0).slice());
  source.connect(node);
  node.connect(context.destination);
}

async function start(button) {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } });
  const context = new AudioContext();
  const blocks = [];
  await listen(context, context.createMediaStreamSource(stream), (block) => blocks.push(block));
  const timer = setTimeout(() => stop(button), 1000 * LONGEST_SECONDS);
  recording = { stream, context, blocks, timer };
  button.classList.add("recording");
  button.textContent = button.dataset.stop;
  say("recording");
}

async function stop(button) {
  const { stream, context, blocks, timer } = recording;
  recording = null;
  clearTimeout(timer);
  stream.getTracks().forEach((track) => track.stop());
  await context.close();
  button.classList.remove("recording");
  button.textContent = button.dataset.start;
  const files = new DataTransfer();
  files.items.add(new File([wav(blocks, context.sampleRate)], "microphone.wav", { type: "audio/wav" }));
  document.getElementById("file").files = files.files;
  form.requestSubmit();
}

/** Put a button in place of a caption's player: one stop of the keyboard instead of four. */
function readAloud(button) {
  const player = button.previousElementSibling;
  const label = (name) => {
    button.textContent = button.dataset[name];
    button.setAttribute("aria-label", `${button.dataset[name]}: ${button.dataset.caption}`);
  };
  button.addEventListener("click", () => {
    if (!player.paused) return player.pause();
    document.querySelectorAll(".caption audio").forEach((other) => other.pause());
    player.currentTime = 0;
    player.play().catch(() => label("failed"));
  });
  player.addEventListener("play", () => label("stop"));
  player.addEventListener("pause", () => label("play"));
  label("play");
  player.hidden = true;
  button.hidden = false;
}

document.querySelectorAll(".play").forEach(readAloud);
if (form) {
  const button = document.getElementById("record");
  if (navigator.mediaDevices && window.AudioContext) {
    document.getElementById("voice").hidden = false;
    let busy = false;
    button.addEventListener("click", async () => {
      if (busy) return;
      busy = true;
      try {
        await (recording ? stop(button) : start(button));
      } catch {
        say("refused");
      }
      busy = false;
    });
  }
  form.addEventListener("submit", () => { say("searching"); document.getElementById("go").disabled = true; });
  // A page that the browser kept, shown again by "back".
  window.addEventListener("pageshow", () => { say(""); document.getElementById("go").disabled = false; });
}
