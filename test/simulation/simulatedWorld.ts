import type { Random } from './random.ts'

/** Simulated time and random task order, independent of real time. */
export type SimulatedWorld = {
  now(): number
  /** Schedules a task. Tasks due at the same time run in random order. The task is dropped if `life` ends first. */
  after(ms: number, task: () => void, life?: Life): void
  /** Resolves after the delay, or never if the life ends first. */
  pause(ms: number, life?: Life): Promise<void>
  /** Adjusts the clock, as a time server or user does. */
  setClock(byMs: number): void
  /** Runs all tasks, including those that they schedule, until none remain or `isOver` returns true. */
  run(isOver: () => boolean): Promise<void>
}

/** Lifetime of a simulated process. Its tasks do not run after it has ended. */
export type Life = { hasEnded: boolean }

const startedAtMs = Date.UTC(2026, 10, 22, 23, 59, 0)
/** Exceeds the longest promise chain between two tasks. */
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
