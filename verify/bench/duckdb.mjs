// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// node duckdb.mjs TRACES MODULES THREADS
// Opens DuckDB, then runs the query once for each line on standard input and
// answers with one line of JSON: seconds, processor seconds, peak memory, rows.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [traces, modules, threads] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(`${modules}/package.json`)('@duckdb/node-api');
const instance = await DuckDBInstance.create(':memory:', { threads });
const connection = await instance.connect();

const columns = {
  task_id: 'VARCHAR', turn_id: 'INTEGER', call_id: 'VARCHAR', tool: 'VARCHAR', args: 'JSON', accept_time_ms: 'INTEGER', error: 'JSON',
  latency_ms: 'STRUCT(queue INTEGER, exec INTEGER)', status: 'VARCHAR', gold: 'STRUCT(needed BOOLEAN, args JSON)', tags: 'VARCHAR[]',
};
const declared = Object.entries(columns).map(([name, type]) => `${name}: '${type}'`).join(', ');
const query = `
  SELECT tags[2] AS language, tags[1] AS family, count(*) AS calls,
    avg(CAST(status <> 'rejected_by_contract' AS INTEGER)) AS accepted,
    avg(CAST(status = 'ok' AND error IS NULL AS INTEGER)) AS executed,
    avg(CAST(CAST(args AS VARCHAR) = CAST(gold.args AS VARCHAR) AS INTEGER)) AS same_arguments,
    sum(CAST(NOT gold.needed AS INTEGER)) AS unneeded,
    quantile_disc(latency_ms.exec, 0.5) AS p50, quantile_disc(latency_ms.exec, 0.9) AS p90
  FROM read_json('${traces.replaceAll("'", "''")}', format = 'newline_delimited', columns = {${declared}})
  GROUP BY ALL ORDER BY ALL`;

for await (const line of createInterface({ input: process.stdin })) {
  if (line === '') continue;
  const cpu = process.cpuUsage();
  const start = performance.now();
  const rows = await (await connection.run(query)).getRows();
  const seconds = (performance.now() - start) / 1000;
  const used = process.cpuUsage(cpu);
  const version = (await (await connection.run('SELECT version()')).getRows())[0][0];
  console.log(JSON.stringify({
    version, seconds, cpu: (used.user + used.system) / 1e6, rss_mb: process.resourceUsage().maxRSS / 1024,
    groups: rows.map((r) => ({ language: r[0], family: r[1], calls: Number(r[2]), unneeded: Number(r[6]) })),
  }));
}
