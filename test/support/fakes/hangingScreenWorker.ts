import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { temporaryFolder } from '../fixtures/temporaryFolder.ts'

const module = (name: string) =>
  JSON.stringify(new URL(`../../../src/main/host/terminals/${name}.ts`, import.meta.url).href)

/**
 * Creates a screen worker that hangs on output containing `stick fast`, and on queries to a screen that printed `no
 * answer`. Simulates an emulator without limits.
 */
export function createHangingScreenWorker(): URL {
  const script = join(temporaryFolder('stuck-screens'), 'stuck.mjs')
  writeFileSync(
    script,
    `import { parentPort, workerData } from 'node:worker_threads'
     import { createCurrentWork } from ${module('worker/currentWork')}
     import { serveScreens } from ${module('worker/screenServer')}
     const work = createCurrentWork(workerData.work)
     const drawing = new Set()
     const asked = new Set()
     parentPort.on('message', (it) => {
       if (it.type !== 'output') return
       const text = Buffer.from(it.bytes).toString('latin1')
       if (text.includes('stick fast')) drawing.add(it.screen)
       if (text.includes('no answer')) asked.add(it.screen)
     })
     serveScreens(parentPort, {
       ...work,
       begin(screen, kind) {
         work.begin(screen, kind)
         while ((kind === 'asked' ? asked : drawing).has(screen));
       },
     })`,
  )
  return pathToFileURL(script)
}
