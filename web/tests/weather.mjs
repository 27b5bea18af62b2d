// The weather suite of the examples, which several tests run, with a good and a bad model.
import { readFile } from 'node:fs/promises';
import path from 'node:path';

const examples = path.resolve(import.meta.dirname, '../../examples');
const from = (name) => readFile(path.join(examples, name), 'utf8');

export const good = 'script:./weather-good.yaml';
export const sloppy = 'script:./weather-sloppy.yaml';
export const allowFiles = ['--allow-files', '{files}'];

/** exampleSuite returns the text of the suite. */
export const exampleSuite = () => from('weather.yaml');

/** weather stores the suite and the models on a server with allowed files, and returns the id of the suite. */
export async function weather(server) {
  for (const name of ['weather-good.yaml', 'weather-sloppy.yaml'])
    await server.file(name, await from(`scripts/${name}`));
  return server.suite(await exampleSuite());
}
