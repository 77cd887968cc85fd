// Drives a server with OpenAI's own client, as its users do: node openai-client.mjs BASE_URL TOKEN PICTURE FILM
// Prints one JSON object of what it saw; fails with a trace when the client is not content.
import fs from 'node:fs';
import OpenAI, { toFile } from 'openai';

const [baseURL, apiKey, picture, film] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });

async function finished(id) {
  for (;;) {
    const video = await client.videos.retrieve(id);
    if (!['queued', 'in_progress'].includes(video.status)) return video;
    await new Promise((wake) => setTimeout(wake, 100));
  }
}

const plain = await client.videos.create({ prompt: 'A red circle moves right on a blue background', seconds: '1', size: '256x256' });
const withPicture = await client.videos.create({
  prompt: 'A circle grows',
  seconds: '1',
  size: '256x256',
  input_reference: await toFile(fs.createReadStream(picture), 'first frame.png', { type: 'image/png' }),
});
const done = await finished(plain.id);
const second = await finished(withPicture.id);

const content = await client.videos.downloadContent(plain.id);
fs.writeFileSync(film, Buffer.from(await content.arrayBuffer()));
const thumbnail = await client.videos.downloadContent(plain.id, { variant: 'thumbnail' }).then((r) => r.headers.get('content-type'), (e) => String(e.status));

const listed = [];
for await (const video of client.videos.list({ limit: 1 })) listed.push(video.id);

const remix = await client.videos.remix(plain.id, { prompt: 'A green circle moves right on a blue background' });
await finished(remix.id);

const deleted = await client.videos.delete(plain.id);
const after = await client.videos.retrieve(plain.id).then(() => 'still there', (e) => ({ status: e.status, message: e.message, code: e.code }));
const refused = await client.videos.create({ prompt: 'x', seconds: '99' }).then(() => 'taken', (e) => ({ status: e.status, message: e.message, param: e.param }));
const models = (await client.models.list()).data.map((model) => model.id);

console.log(JSON.stringify({ plain, done, second, listed, contentType: content.headers.get('content-type'), thumbnail, remix, deleted, after, refused, models }));
