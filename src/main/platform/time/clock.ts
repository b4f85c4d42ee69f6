import { randomUUID } from 'node:crypto'
import type { TimeSource } from './timeSource.ts'
import type { TimeUse } from './timeUses.ts'

/**
 * Change of the wall clock that does not match the elapsed time. `sleep`: the computer was suspended. `set`: the clock
 * was set.
 */
export type ClockJump = { fromMs: number; toMs: number; cause: 'sleep' | 'set' }

/** Clocks of a process, in whole milliseconds since 1970, except `runningMs`, which has fractions. No method throws. */
export type Clock = {
  /** Wall clock, for display and for times that others verify. May be wrong. */
  now(): number
  /** Running time of the computer from an arbitrary start, for durations. Monotonic; excludes sleep. */
  runningMs(): number
  /**
   * Wall clock, except that a change of the clock takes effect only after a day of running time. For daily budgets,
   * lifetimes of credentials, and deadlines that start an action.
   */
  steadyMs(): number
  /**
   * The later of `now` and `steadyMs`, for the expiry of grants. A clock that is set back does not revive an expired
   * grant.
   */
  latestMs(): number
  /**
   * A time that has certainly passed: the earliest reading of the wall clock in the last day of running time. For
   * deletions.
   */
  passedMs(): number
  /** Identifies the start of `runningMs`. Two values can be compared only within one epoch. */
  epoch: string
  /** Calls `listener` after each jump. @returns the unsubscribe function */
  onJump(use: TimeUse, listener: (jump: ClockJump) => void): () => void
  /** Compares the clocks, so that listeners are notified of a jump before a deadline is evaluated. */
  check(): void
  close(): void
}

/** State that must survive a restart. */
export type ClockState = {
  bootId: string | null
  wallMs: number
  steadyMs: number
  runningMs: number
  uptimeMs: number
  /** Running time at which the wall clock diverged from the steady clock. Null while they agree. */
  setAtRunningMs: number | null
  /** Total running time of all processes. */
  totalMs: number
  looks: readonly ClockReading[]
}
/** Reading of the wall clock at a total running time. */
export type ClockReading = { totalMs: number; wallMs: number }

export type ClockStore = { read(): ClockState | undefined; write(state: ClockState): void }

type Options = {
  source: TimeSource
  store: ClockStore
  onJump?: (jump: ClockJump) => void
  intervalMs?: number
}

/** Smaller differences count as drift: NTP adjusts the clock, and two reads are not simultaneous. */
const toleranceMs = 5_000
const dayMs = 86_400_000
const readingIntervalMs = 3_600_000
/** A day has 24 readings, or more if the clock is set often. */
const maxReadings = 100

/** Opens the clock of a process. Close it together with the database of its store. */
export function openClock({ source, store, intervalMs = 10_000, ...options }: Options): Clock {
  const listeners = new Set<(jump: ClockJump) => void>()
  const startRunningMs = source.runningMs()
  const stored = store.read()
  const startTotalMs = stored?.totalMs ?? 0
  const looks = createReadingHistory(stored?.looks ?? [])
  const steady = createSteadyTime(source, stored)
  let jumps: ClockJump[] = []
  let soon: NodeJS.Immediate | undefined

  const totalMs = (): number => startTotalMs + (source.runningMs() - startRunningMs)
  const save = (): void => store.write({ ...steady.getState(), totalMs: totalMs(), looks: looks.list() })
  const measure = (): void => {
    for (const jump of steady.measure()) {
      jumps.push(jump)
      if (jump.cause === 'set') looks.add({ totalMs: totalMs(), wallMs: jump.toMs })
    }
  }
  const deliver = (): void => {
    const isDue = looks.isDue(totalMs())
    if (isDue) looks.add({ totalMs: totalMs(), wallMs: steady.getReadings().wallMs })
    const delivered = jumps
    jumps = []
    if (isDue || delivered.length > 0) save()
    for (const jump of delivered) {
      options.onJump?.(jump)
      for (const listener of listeners) listener(jump)
    }
  }
  const deliverSoon = (): void => {
    soon = undefined
    deliver()
  }
  const refresh = (): void => {
    measure()
    deliver()
  }
  /** Reads the time since boot only if the wall clock differs, because that takes up to three system calls. */
  const check = (): void => {
    const isAgreed = !steady.isWallSet() && steady.isNear(source.wallMs())
    if (!isAgreed || jumps.length > 0) refresh()
  }
  const steadyMs = (): number => {
    const wallMs = source.wallMs()
    if (steady.isNear(wallMs)) return wallMs
    if (!steady.isWallSet()) {
      measure()
      soon ??= setImmediate(deliverSoon) // a listener may write, and the caller may be in a transaction
    }
    return steady.isNear(source.wallMs()) ? source.wallMs() : Math.floor(steady.elapsedMs())
  }

  measure()
  soon = setImmediate(deliverSoon) // listeners have subscribed by then
  const timer = setInterval(refresh, intervalMs)
  timer.unref()
  return {
    now: source.wallMs,
    runningMs: source.runningMs,
    steadyMs,
    latestMs: () => Math.max(source.wallMs(), steadyMs()),
    passedMs() {
      refresh()
      return looks.findPassedMs({ totalMs: totalMs(), wallMs: source.wallMs() })
    },
    epoch: source.bootId ?? randomUUID(),
    onJump(_use, listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    check,
    close() {
      clearInterval(timer)
      clearImmediate(soon)
      save() // no measurement here, so that the next process detects and reports a jump since the last one
    },
  }
}

/** Creates a clock without jumps for tests. All times are those of `now`. */
export function createTrustedClock(now: () => number): Clock {
  return {
    ...{ now, runningMs: now, steadyMs: now, latestMs: now, passedMs: now, epoch: 'even' },
    onJump: () => () => {},
    check: () => {},
    close: () => {},
  }
}

/** Stores the wall clock readings of the last day of running time, and the newest reading before it. */
function createReadingHistory(stored: readonly ClockReading[]) {
  let looks = stored

  return {
    list: () => looks,
    /** Whether the newest reading is older than `readingIntervalMs`. */
    isDue(totalMs: number): boolean {
      const newest = looks.at(-1)
      return newest === undefined || totalMs - newest.totalMs >= readingIntervalMs
    },
    add({ totalMs, wallMs }: ClockReading): void {
      const newestOld = looks.findLastIndex((it) => it.totalMs <= totalMs - dayMs)
      const recent = looks.slice(Math.max(0, newestOld))
      const previous = recent.at(-1)
      // Merged readings can delay deletions, but never cause one.
      const isFull = recent.length >= maxReadings
      if (isFull) recent.pop()
      const minMs = isFull ? Math.min(previous?.wallMs ?? wallMs, wallMs) : wallMs
      looks = [...recent, { totalMs, wallMs: minMs }]
    },
    /** @returns the earliest wall clock reading of the last day, or 0 if the readings do not cover a day */
    findPassedMs({ totalMs, wallMs }: ClockReading): number {
      const from = looks.findLastIndex((it) => it.totalMs <= totalMs - dayMs)
      if (from < 0) return 0
      return looks.slice(from).reduce((min, it) => Math.min(min, it.wallMs), wallMs)
    },
  }
}

type Readings = { wallMs: number; runningMs: number; uptimeMs: number }

/** Tracks the wall clock, or the elapsed time until a change of the wall clock takes effect. */
function createSteadyTime(source: TimeSource, stored: ClockState | undefined) {
  const startRunningMs = source.runningMs()
  const before = stored && isContinuation(stored, source) ? stored : undefined
  let last: Readings = before ?? readClocks(source)
  // A clock that starts before its last reading is wrong, for example after a dead battery. Its correction takes effect
  // immediately.
  let isWallBehind = before === undefined && stored !== undefined && source.wallMs() < stored.wallMs - toleranceMs
  /** Reading of the steady clock at a running time. */
  let anchor = before ?? {
    steadyMs: stored && isWallBehind ? stored.steadyMs : source.wallMs(),
    runningMs: startRunningMs,
  }
  let setAtRunningMs = before?.setAtRunningMs ?? (isWallBehind ? startRunningMs : null)

  const elapsedMs = (): number => anchor.steadyMs + (source.runningMs() - anchor.runningMs)
  const isNear = (wallMs: number): boolean => Math.abs(wallMs - elapsedMs()) <= toleranceMs

  return {
    /** Returns the steady time by elapsed time only, with fractions. */
    elapsedMs,
    /** Whether a wall clock agrees with the elapsed time. */
    isNear,
    /** Whether the wall clock was set and the change has not taken effect. */
    isWallSet: () => setAtRunningMs !== null,
    /** Returns the readings of the last measurement. */
    getReadings: () => last,
    getState(): Omit<ClockState, 'totalMs' | 'looks'> {
      const { wallMs, runningMs, uptimeMs } = last
      const bootId = source.bootId ?? null
      return { bootId, wallMs, runningMs, uptimeMs, steadyMs: elapsedMs(), setAtRunningMs }
    },
    /** Reads all clocks. @returns the jumps since the last measurement */
    measure(): ClockJump[] {
      const jumps: ClockJump[] = []
      const previous = last
      last = readClocks(source)
      const { wallMs, runningMs } = last
      const ranMs = runningMs - previous.runningMs
      const asleepMs = last.uptimeMs - previous.uptimeMs - ranMs
      const sleptMs = asleepMs > toleranceMs ? asleepMs : 0
      const awakeMs = previous.wallMs + ranMs
      anchor = { steadyMs: anchor.steadyMs + sleptMs, runningMs: anchor.runningMs }
      if (sleptMs > 0) jumps.push({ fromMs: awakeMs, toMs: awakeMs + sleptMs, cause: 'sleep' })
      const isSet = Math.abs(wallMs - (awakeMs + sleptMs)) > toleranceMs
      if (isSet) {
        jumps.push({ fromMs: awakeMs + sleptMs, toMs: wallMs, cause: 'set' })
        setAtRunningMs = runningMs
      }
      const isCorrected = isWallBehind && stored !== undefined && wallMs >= stored.wallMs
      const isLong = setAtRunningMs !== null && runningMs - setAtRunningMs >= dayMs
      if (isCorrected || isLong || setAtRunningMs === null || isNear(wallMs)) {
        anchor = { steadyMs: wallMs, runningMs }
        setAtRunningMs = null
        isWallBehind = false
      }
      return jumps
    },
  }
}

function readClocks(source: TimeSource): Readings {
  return { wallMs: source.wallMs(), runningMs: source.runningMs(), uptimeMs: source.uptimeMs() }
}

/** Whether a stored state is of the same boot, so that its elapsed time continues. */
function isContinuation(state: ClockState, source: TimeSource): boolean {
  const isBoot = source.bootId !== undefined && state.bootId === source.bootId
  return isBoot && source.runningMs() >= state.runningMs && source.uptimeMs() >= state.uptimeMs
}
