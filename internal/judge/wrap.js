// Runs the JavaScript of a scorer: a question is a line of JSON on standard input, an answer one
// on standard output. What the program prints goes to standard error.
'use strict';
const answer = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);
console.log = console.info = console.debug = console.error;

// output is the answer of the attempt: its text, or the calls of its last message.
function outputOf(attempt) {
  const said = attempt.turns.filter((t) => t.role === 'assistant');
  const last = said[said.length - 1];
  if (!last || !last.calls || last.calls.length === 0) return attempt.answer;
  const calls = last.calls.map((c) => ({
    id: c.id || '', type: 'function',
    function: { name: c.tool, arguments: c.args === null ? c.args_raw || '' : JSON.stringify(c.args) },
  }));
  return last.content ? { role: 'assistant', content: last.content, tool_calls: calls } : calls;
}

// compile makes a function of a program: of several lines it is a body, of one an expression,
// which may stand behind declarations.
const known = new Map();
function compile(text) {
  if (known.has(text)) return known.get(text);
  let f;
  const body = text.trimEnd();
  if (body.includes('\n')) {
    f = new Function('output', 'context', 'process', body);
  } else {
    const line = body.trim().replace(/;+\s*$/, '');
    if (/^(const|let|var)\s/.test(line)) {
      for (let i = line.lastIndexOf(';'); i > 0 && !f; i = line.lastIndexOf(';', i - 1)) {
        try {
          f = new Function('output', 'context', 'process', line.slice(0, i + 1) + ' return (' + line.slice(i + 1) + '\n)');
        } catch (err) {
          if (!(err instanceof SyntaxError)) throw err; // the ; stands in a text
        }
      }
    }
    f = f || new Function('output', 'context', 'process', 'return ' + line);
  }
  if (known.size < 1000) known.set(text, f);
  return f;
}

function scored(n, threshold) {
  if (!Number.isFinite(n)) throw new Error('it returned ' + n + ', which is no finite number');
  const out = { score: Math.min(1, Math.max(0, n)), pass: threshold === undefined ? n > 0 : n >= threshold };
  if (out.score !== n) out.reason = 'it returned ' + n;
  return out;
}

// opinion reads what the program returned.
function opinion(result, threshold) {
  if (typeof result === 'boolean') return { pass: result };
  if (typeof result === 'number') return scored(result, threshold);
  if (result === null || typeof result !== 'object' || typeof result.pass !== 'boolean') {
    throw new Error('it returned ' + (result === null ? 'null' : typeof result) + ', and neither true, false, a number nor {pass, score, reason}');
  }
  const out = { pass: result.pass };
  if (typeof result.score === 'number') {
    const at = scored(result.score, threshold);
    out.score = at.score;
    if (threshold !== undefined && result.score < threshold) out.pass = false;
  }
  if (typeof result.reason === 'string' && result.reason) out.reason = result.reason;
  for (const [name, v] of Object.entries(result.namedScores || {})) {
    if (/^[A-Za-z0-9_-]{1,64}$/.test(name) && typeof v === 'number' && v >= 0 && v <= 1) (out.values = out.values || {})[name] = v;
  }
  return out;
}

(async () => {
  for await (const line of require('readline').createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const q = JSON.parse(line);
    let out;
    try {
      const vars = q.vars || {};
      const context = { vars, prompt: q.attempt.case.prompt, test: { vars, description: q.attempt.case.description }, attempt: q.attempt };
      out = opinion(await compile(q.program)(outputOf(q.attempt), context, process), q.threshold);
    } catch (err) {
      out = { error: 'the program failed: ' + (err && err.message ? err.name + ': ' + err.message : String(err)) };
    }
    answer(JSON.stringify({ id: q.id, ...out }) + '\n');
  }
})();
