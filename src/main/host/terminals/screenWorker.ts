import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { presentWork } from './presentWork.ts'
import { serveScreens } from './screenServer.ts'
import { presentThread } from './threadClock.ts'

// On Linux a priority belongs to a thread: parsing gives way to answering. Elsewhere it would slow the whole process.
if (process.platform === 'linux') setPriority(1)
const work = presentWork(workerData.work) // as the pool starts it
work.thread = presentThread()
if (parentPort) serveScreens(parentPort, work)
