// A client of the TypeScript SDK: prints the tools and answers of a server as one line of JSON.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
const { caps, calls, url, command } = JSON.parse(process.argv[2]);
const via = url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: 'ignore', env: process.env });
const client = new Client({ name: 'typescript-sdk', version: '1' }, { capabilities: caps ?? {} });
await client.connect(via);
const can = client.getServerCapabilities();
const names = [];
let cursor;
do {
  const page = await client.listTools({ cursor });
  names.push(...page.tools.map(t => t.name));
  cursor = page.nextCursor;
} while (cursor);
const answers = [];
for (const { tool, args } of calls ?? []) answers.push(await client.callTool({ name: tool, arguments: args }).catch(e => ({ error: e.code, message: e.message })));
const resources = can.resources ? (await client.listResources()).resources.map(r => r.uri) : [];
const read = resources.length ? (await client.readResource({ uri: resources[0] })).contents.map(c => c.uri) : [];
const prompts = can.prompts ? (await client.listPrompts()).prompts.map(p => p.name) : [];
console.log(JSON.stringify({ names, answers, resources, read, prompts }));
if (url) await via.terminateSession();
await client.close();
