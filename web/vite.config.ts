import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import postcss from 'postcss';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

// In development (npx vite) requests of the API go to a callvet server: CALLVET_URL, or the usual address.
const server = process.env.CALLVET_URL ?? 'http://127.0.0.1:8501';

/**
 * used drops the rules of Mantine's style sheet for unused components: no script contains their classes.
 */
function used(): Plugin {
  return {
    name: 'used',
    apply: 'build',
    async generateBundle(_, bundle) {
      const parts = Object.values(bundle);
      const scripts = parts.map((p) => (p.type === 'chunk' ? p.code : '')).join('\n');
      const named = new Set(scripts.match(/\bm_[0-9a-f]+\b/g));
      const gone = (selector: string) => (selector.match(/\bm_[0-9a-f]+\b/g) ?? []).some((c) => !named.has(c));
      for (const p of parts) {
        if (p.type !== 'asset' || !p.fileName.endsWith('.css')) continue;
        const sheet = postcss.parse(String(p.source));
        sheet.walkRules((rule) => {
          if (rule.parent?.type === 'atrule' && /keyframes$/.test((rule.parent as postcss.AtRule).name)) return;
          const left = rule.selectors.filter((s) => !gone(s));
          if (left.length === 0) rule.remove();
          else if (left.length < rule.selectors.length) rule.selectors = left;
        });
        p.source = sheet.toString();
      }
    },
  };
}

/**
 * packed also writes each asset compressed, for browsers that accept it (brotli only over TLS, and on this machine).
 */
function packed(): Plugin {
  return {
    name: 'packed',
    apply: 'build',
    async writeBundle({ dir }) {
      const assets = path.join(dir ?? '', 'assets');
      for (const name of await readdir(assets)) {
        const text = await readFile(path.join(assets, name));
        if (!/\.(js|css|svg)$/.test(name) || text.length <= 1024) continue;
        await Promise.all([
          writeFile(path.join(assets, `${name}.gz`), gzipSync(text, { level: 9 })),
          writeFile(path.join(assets, `${name}.br`), brotliCompressSync(text)),
        ]);
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), used(), packed()],
  build: {
    outDir: 'dist/app',
    emptyOutDir: true,
    chunkSizeWarningLimit: 700,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Each file costs headers: small parts that several screens share are one file.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'icons', test: /@tabler/ },
            {
              name: 'ui',
              test: /core\/utils\/noop\/|src\/(api\/idempotency|screens\/runs\/runs\.module|ui\/(?!(code|editor|conversation|table|pick|evidence|chart|plot)\.tsx))/,
            },
          ],
        },
      },
    },
  },
  server: {
    proxy: { '/api': { target: server, changeOrigin: true }, '/ws': { target: server, ws: true, changeOrigin: true } },
  },
});
