import type { Entrance } from './enter.ts'
import { enterProcess, type MachineDoor } from './enterProcess.ts'
import { keeper } from './keeper.ts'

/** The way into a machine, got ready while the machine is still being made. */
export type MachineEntrance = {
  prepare(): void
  /** @param init PID 1 of the machine, as the host counts */
  open(init: number): Entrance
  /** Nobody gets in any more. */
  close(): void
}

export function machineEntrance(door: MachineDoor): MachineEntrance {
  const machine = Promise.withResolvers<number>()
  machine.promise.catch(() => {}) // whoever waits for it is told
  const keeping = keeper(door, machine.promise)
  return {
    prepare: keeping.prepare,
    open(init) {
      machine.resolve(init)
      return { init, uid: door.uid, connect: keeping.connect, spawn: (master) => enterProcess(door, { master }) }
    },
    close() {
      machine.reject(new Error('The machine has ended.'))
      keeping.close()
    },
  }
}
