import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

// In development (npx vite) requests of the API go to a callvet server: CALLVET_URL, or the usual address.
const server = process.env.CALLVET_URL ?? 'http://127.0.0.1:8501';

/** packed writes each asset compressed, too: the server sends that to browsers that take it (brotli only over TLS, and on this machine). */
function packed(): Plugin {
  return {
    name: 'packed',
    apply: 'build',
    async writeBundle({ dir }) {
      const assets = path.join(dir ?? '', 'assets');
      for (const name of await readdir(assets)) {
        const text = await readFile(path.join(assets, name));
        if (!/\.(js|css|svg)$/.test(name) || text.length <= 1024) continue;
        await Promise.all([writeFile(path.join(assets, `${name}.gz`), gzipSync(text, { level: 9 })), writeFile(path.join(assets, `${name}.br`), brotliCompressSync(text))]);
      }
    },
  };
}

export default defineConfig({
  plugins: [react(), packed()],
  build: { outDir: 'dist/app', emptyOutDir: true, chunkSizeWarningLimit: 700, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: { '/api': { target: server, changeOrigin: true }, '/ws': { target: server, ws: true, changeOrigin: true } } },
});
