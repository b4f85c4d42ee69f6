/** Current task of a worker, in shared memory that the main thread can read even while the worker is blocked. */
export type CurrentWork = {
  readonly memory: SharedArrayBuffer
  /** Kernel thread id of the worker, or 0 until known. */
  thread: number
  begin(screen: number, kind: WorkKind): void
  end(): void
  /** `turn` changes with each task. */
  now(): { turn: number; screen: number; kind: WorkKind } | undefined
}

/** `drawing`: parsing output. `asked`: handling a query of the screen. */
export type WorkKind = 'drawing' | 'asked'

const [turnIndex, screenIndex, kindIndex, threadIndex] = [0, 1, 2, 3]
const bytes = 4 * Int32Array.BYTES_PER_ELEMENT

export function createCurrentWork(memory = new SharedArrayBuffer(bytes)): CurrentWork {
  const numbers = new Int32Array(memory)
  return {
    memory,
    get thread() {
      return Atomics.load(numbers, threadIndex)
    },
    set thread(number) {
      Atomics.store(numbers, threadIndex, number)
    },
    begin(screen, kind) {
      Atomics.add(numbers, turnIndex, 1)
      Atomics.store(numbers, kindIndex, kind === 'asked' ? 1 : 0)
      Atomics.store(numbers, screenIndex, screen)
    },
    end: () => void Atomics.store(numbers, screenIndex, 0),
    now() {
      const screen = Atomics.load(numbers, screenIndex)
      if (screen === 0) return undefined
      const kind = Atomics.load(numbers, kindIndex) === 1 ? 'asked' : 'drawing'
      return { turn: Atomics.load(numbers, turnIndex), screen, kind }
    },
  }
}
