import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// In development (npx vite) requests of the API go to a callvet server: CALLVET_URL, or the usual address.
const server = process.env.CALLVET_URL ?? 'http://127.0.0.1:8501';

export default defineConfig({
  plugins: [react()],
  build: { outDir: 'dist/app', emptyOutDir: true, chunkSizeWarningLimit: 700, assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: { '/api': { target: server, changeOrigin: true }, '/ws': { target: server, ws: true, changeOrigin: true } } },
});
