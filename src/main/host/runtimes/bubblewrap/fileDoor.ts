import type { FileDoor } from '../inside/machineFiles.ts'
import { type Entrance, enter } from './enter.ts'

/** To the files of a machine of namespaces. */
export function createFileDoor(entrance: Entrance): FileDoor {
  return {
    open(request) {
      const { started, ending, kill } = enter(entrance, request)
      return { started: started.then((it) => it?.connection), ending, kill }
    },
  }
}
