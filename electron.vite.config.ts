import { resolve } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'electron-vite'
import { asciiOutput } from './scripts/asciiOutput.ts'
import { buildMark } from './scripts/buildState.ts'
import { copyHelperScripts } from './scripts/copyHelperScripts.ts'
import { keepOnlyWoff2 } from './scripts/keepOnlyWoff2.ts'
import { createChunkGroup, preloadFirstScreen } from './scripts/preloadFirstScreen.ts'
import { requirePlainHttp } from './scripts/requirePlainHttp.ts'

const mark = buildMark(import.meta.dirname)
const here = (path: string) => resolve(import.meta.dirname, path)
const windowStart = here('src/renderer/app/startApp.tsx')
const tabsStart = here('src/renderer/features/terminals/sessions/TerminalTabs.tsx')
const linkStart = here('src/renderer/app/terminalLink/startTerminalLink.tsx')

/** Each program of the main side is a file of its own in `out/main`, beside the chunks they share. */
export default defineConfig({
  main: {
    plugins: [
      { name: 'build-begins', buildStart: mark.begin },
      requirePlainHttp(),
      copyHelperScripts(here('.')),
      asciiOutput(),
    ],
    build: {
      outDir: here('out/main'),
      target: 'node24',
      sourcemap: false,
      // Sources stay in memory. Names of functions and classes stay too: the log shows them in stacks.
      minify: false,
      // These are hundreds of files, and every start would look each of them up. What is native, or finds its own files
      // by their place, stays outside.
      externalizeDeps: { exclude: ['find-my-way', 'viem', 'ws', 'zod'] },
      rollupOptions: {
        input: {
          main: here('src/main/entries/main.ts'),
          headless: here('src/main/entries/headless.ts'),
          service: here('src/main/entries/service.ts'),
          host: here('src/main/entries/host.ts'),
          mcp: here('src/main/entries/mcp.ts'),
          chainWorker: here('src/main/platform/chain/chainWorker.ts'),
          screenWorker: here('src/main/host/terminals/worker/screenWorker.ts'),
        },
        output: {
          format: 'es',
          entryFileNames: '[name].js',
          chunkFileNames: '[name]-[hash].js',
          minify: { mangle: { keepNames: { function: true, class: true } }, compress: false, codegen: true },
        },
      },
    },
  },
  preload: {
    build: {
      outDir: here('out/preload'),
      sourcemap: false,
      externalizeDeps: false,
      rollupOptions: {
        input: { preload: here('src/preload/preload.ts') },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: here('src/renderer'),
    // A worker reads its grammars one by one, as the window reads its screens.
    worker: { format: 'es' },
    plugins: [
      react(),
      tailwindcss(),
      keepOnlyWoff2(),
      preloadFirstScreen(windowStart),
      { name: 'build-ends', closeBundle: mark.end },
    ],
    build: {
      outDir: here('out/renderer'),
      // Fonts and pictures stay files: the page's security policy takes none from within.
      assetsInlineLimit: 0,
      // xterm.js and React are as large as they are; nothing comes over a network.
      chunkSizeWarningLimit: 1024,
      sourcemap: false,
      // Any present browser may show it, not Electron's alone; electron-vite would leave it large.
      target: 'es2023',
      cssTarget: ['chrome120', 'firefox121', 'safari17'],
      minify: true,
      rollupOptions: {
        input: {
          index: here('src/renderer/index.html'),
          terminal: here('src/renderer/terminal.html'),
          // The agent makes these pages: they have a style and a script of their own, and share nothing but the tokens.
          prompt: here('src/renderer/securePrompt/prompt.ts'),
          // Shown by hosts of MCP Apps, in one document of its own.
          receipt: here('src/renderer/receipt/receipt.ts'),
        },
        output: {
          codeSplitting: {
            groups: [
              { name: 'xterm', test: /node_modules[\\/]@xterm[\\/]/, priority: 6 },
              { name: 'theme', test: /(ui[\\/]theme[\\/]theme\.ts|vite[\\/]preload-helper\.js)$/, priority: 5 },
              createChunkGroup('base', [windowStart, linkStart], 4),
              createChunkGroup('window', [windowStart], 3),
              createChunkGroup('view', [tabsStart, linkStart], 2),
              createChunkGroup('terminals', [tabsStart], 1),
            ],
          },
        },
      },
    },
  },
})
