import { type IPty, spawn } from '@lydell/node-pty'
import { megabytesPerSecond } from '../figures.ts'

/** Runs a command of this computer with plain node-pty, on a pseudo-terminal of this process. */
export function rawPty(command: string): IPty {
  return spawn('bash', ['-c', command], { cols: 80, rows: 24, encoding: null })
}

/** Sends one character and waits for its echo. */
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

/** Reads all output of a command. */
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
