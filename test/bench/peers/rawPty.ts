import { type IPty, spawn } from '@lydell/node-pty'
import { megabytesPerSecond } from '../figures.ts'

/** node-pty alone: a command of this machine on a pseudo-terminal of this process. */
export function rawPty(command: string): IPty {
  return spawn('bash', ['-c', command], { cols: 80, rows: 24, encoding: null })
}

/** One character to its echo. */
export function echoOnce(pty: IPty, character: string): Promise<void> {
  return new Promise((resolve) => {
    const listening = pty.onData((data) => {
      if (!data.toString().includes(character)) return
      listening.dispose()
      resolve()
    })
    pty.write(character)
  })
}

/** Reads everything that a command prints. */
export function rawThroughput(command: string): Promise<number> {
  return new Promise((resolve) => {
    const pty = rawPty(command)
    let bytes = 0
    let startMs = 0
    pty.onData((data) => {
      if (bytes === 0) startMs = performance.now()
      bytes += data.length
    })
    pty.onExit(() => resolve(megabytesPerSecond(bytes, performance.now() - startMs)))
  })
}
