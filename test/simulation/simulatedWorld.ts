import type { Random } from './random.ts'

/** Time, and the order in which tasks run. Nothing waits for real time. */
export type SimulatedWorld = {
  now(): number
  /** Runs it after so much time; tasks of one moment run in random order. `life`: it is dropped when that life ends. */
  after(ms: number, task: () => void, life?: Life): void
  /** Resolves after so much time, in that life or never. */
  pause(ms: number, life?: Life): Promise<void>
  /** The clock is set, as by a time server or a person. */
  setClock(byMs: number): void
  /** Runs all tasks, and what they begin, to their end, or until it is over. */
  run(isOver: () => boolean): Promise<void>
}

/** Life of a process: tasks of an ended one never run. */
export type Life = { hasEnded: boolean }

const startedAtMs = Date.UTC(2026, 10, 22, 23, 59, 0)
/** Longer than any chain of promises between two tasks. */
const microtaskTurns = 24

export function createSimulatedWorld(random: Random): SimulatedWorld {
  let passedMs = 0
  let clockMs = startedAtMs
  const tasks: { atMs: number; order: number; task: () => void; life: Life | undefined }[] = []
  const after = (ms: number, task: () => void, life?: Life): void => {
    tasks.push({ atMs: passedMs + ms, order: random.next(), task, life })
  }
  return {
    after,
    now: () => clockMs + passedMs,
    pause: (ms, life) => new Promise((resolve) => after(ms, resolve, life)),
    setClock(byMs) {
      clockMs += byMs
    },
    async run(isOver) {
      while (tasks.length > 0 && !isOver()) {
        let next = 0
        for (let index = 1; index < tasks.length; index += 1) {
          const [a, b] = [tasks[index], tasks[next]]
          if (a && b && (a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order))) next = index
        }
        const [due] = tasks.splice(next, 1)
        if (!due || due.life?.hasEnded) continue
        passedMs = Math.max(passedMs, due.atMs)
        due.task()
        for (let turn = 0; turn < microtaskTurns; turn += 1) await undefined
      }
    },
  }
}
