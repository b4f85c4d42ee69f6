import { isFinalPhase, type StreamState } from './streamState.ts'

/** Amount of output after which a hidden terminal is detached, in bytes. It is redrawn when shown. */
const hiddenOutputLimitBytes = 2 * 1024 * 1024
/**
 * Time after which a hidden terminal is detached, so that its output need not be parsed. Terminals hidden for a shorter
 * time remain attached.
 */
const defaultParkAfterMs = 5_000

export type Parking = {
  readonly isVisible: boolean
  show(): void
  hide(): void
  countOutput(bytes: number): void
  cancel(): void
}

type ParkingOptions = {
  parkAfterMs?: number | undefined
  getPhase(): StreamState['phase']
  hasPendingInput(): boolean
  onHiddenOutput(): void
  park(): void
}

/** Decides when a hidden terminal is detached. */
export function createParking(options: ParkingOptions): Parking {
  const { parkAfterMs = defaultParkAfterMs, getPhase } = options
  let isVisible = true
  let hiddenBytes = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function parkLater(): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (isVisible || isFinalPhase(getPhase()) || getPhase() === 'parked') return
      // Earlier input has not been acknowledged yet.
      if (options.hasPendingInput()) parkLater()
      else options.park()
    }, parkAfterMs)
  }

  return {
    get isVisible() {
      return isVisible
    },
    show() {
      isVisible = true
      hiddenBytes = 0
      clearTimeout(timer)
    },
    hide() {
      if (isVisible) parkLater()
      isVisible = false
    },
    countOutput(bytes) {
      if (isVisible) return
      options.onHiddenOutput()
      hiddenBytes += bytes
      if (hiddenBytes <= hiddenOutputLimitBytes || getPhase() !== 'live') return
      options.park()
    },
    cancel: () => clearTimeout(timer),
  }
}
