import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { createCurrentWork } from './currentWork.ts'
import { serveScreens } from './screenServer.ts'
import { getCurrentThreadId } from './threadClock.ts'

// Lowers the priority of the parsing thread so that the main thread can respond first. Linux only, because elsewhere
// the priority applies to the whole process.
if (process.platform === 'linux') setPriority(1)
const work = createCurrentWork(workerData.work) // as set by the pool
work.thread = getCurrentThreadId()
if (parentPort) serveScreens(parentPort, work)
