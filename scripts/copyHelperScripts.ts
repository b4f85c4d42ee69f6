import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Plugin } from 'vite'

/** Copies the helper scripts beside the built programs, from where `perlScript` reads them. */
export function copyHelperScripts(root: string): Plugin {
  const scripts = () => globSync(join(root, 'src/main/host/runtimes/scripts/*.pl')).sort()
  return {
    name: 'helper-scripts',
    buildStart() {
      for (const path of scripts()) this.addWatchFile(path)
    },
    generateBundle() {
      for (const path of scripts()) {
        this.emitFile({ type: 'asset', fileName: `scripts/${basename(path)}`, source: readFileSync(path) })
      }
    },
  }
}
