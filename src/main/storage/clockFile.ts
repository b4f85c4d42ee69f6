import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ClockStore } from '#platform/time/clock.ts'
import { parseClockState } from './clockStore.ts'

/**
 * Stores the state of a clock in a file. It belongs to this computer, so it is not in a database that several computers
 * share. A file that a power failure damaged is ignored, as an unreadable state is.
 */
export function createClockFile(file: string): ClockStore {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  return {
    read() {
      try {
        return parseClockState(readFileSync(file, 'utf8'))
      } catch {
        return undefined // There is no file yet.
      }
    },
    write(state) {
      writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 })
      renameSync(`${file}.new`, file)
    },
  }
}
