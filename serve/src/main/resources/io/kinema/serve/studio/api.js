// Calls of this server's own API. A refusal becomes a Problem that knows the field it is about.

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `HTTP ${status}`);
    this.status = status;
    this.field = body.field || "";
    this.retryAfter = body.retryAfter;
  }
}

let token = sessionStorage.getItem("kinema-token") || "";

export function useToken(value) {
  token = value;
  sessionStorage.setItem("kinema-token", value);
}

export async function call(path, options = {}) {
  const headers = new Headers(options.headers);
  if (token) headers.set("Authorization", `Bearer ${token}`);
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (cause) {
    if (cause.name === "AbortError") throw cause;
    throw new Problem(0, { detail: "" });
  }
  if (!response.ok) {
    const body = await response.json().catch(() => ({}));
    throw new Problem(response.status, { ...body, retryAfter: response.headers.get("Retry-After") });
  }
  return response;
}

export const get = async (path, options) => (await call(path, options)).json();

/** A file of the server as an address that media elements can show; revoke it when the element goes. */
export const blobUrl = async (path, options) => URL.createObjectURL(await (await call(path, options)).blob());

export const send = async (fields, files) => {
  if (!files.length) {
    return (await call("/v1/videos", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(fields) })).json();
  }
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  for (const { name, file } of files) form.append(name, file, file.name);
  return (await call("/v1/videos", { method: "POST", body: form })).json();
};

/**
 * Follows a video's server-sent events until it is finished or the signal ends it. The browser's EventSource cannot send a token, so the
 * stream is read here; when it breaks it is opened again.
 */
export async function follow(id, onVideo, signal) {
  for (let wait = 1000; !signal.aborted; wait = Math.min(wait * 2, 15000)) {
    try {
      const response = await call(`/v1/videos/${id}/events`, { signal });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const blocks = (rest + part.value).split("\n\n");
        rest = blocks.pop();
        for (const block of blocks) {
          const name = /^event: (.*)$/m.exec(block)?.[1];
          const data = /^data: (.*)$/m.exec(block)?.[1];
          if (name === "deleted") return onVideo(null);
          if (name === "video") {
            const video = JSON.parse(data);
            onVideo(video);
            if (finished(video)) return;
            wait = 1000;
          }
        }
      }
    } catch (problem) {
      if (problem.name === "AbortError" || signal.aborted) return;
      if (problem.status === 404) return onVideo(null);
    }
    await new Promise((resume) => setTimeout(resume, wait));
  }
}

export const finished = (video) => ["completed", "failed", "cancelled"].includes(video.status);
