// What several tests run: the weather suite of the examples, with a model that does well and one that does not.
import { readFile } from 'node:fs/promises';
import path from 'node:path';

const examples = path.resolve(import.meta.dirname, '../../examples');
const from = (name) => readFile(path.join(examples, name), 'utf8');

export const good = 'script:./weather-good.yaml';
export const sloppy = 'script:./weather-sloppy.yaml';
export const allowFiles = ['--allow-files', '{files}'];

/** exampleSuite is the text of the suite. */
export const exampleSuite = () => from('weather.yaml');

/** weather keeps the suite and the models on a server, which was started with allowFiles; gives the id of the suite. */
export async function weather(server) {
  for (const name of ['weather-good.yaml', 'weather-sloppy.yaml'])
    await server.file(name, await from(`scripts/${name}`));
  return server.suite(await exampleSuite());
}
