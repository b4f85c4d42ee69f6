import { listenIpc } from '#platform/ipc/ipcServer.ts'
import { silentLog } from '#platform/logging/log.ts'
import { claimSocket } from '#platform/net/privateSocket.ts'
import { hostIpcVersion } from '#shared/contract/hostIpc.ts'

/** Responds like a host until SIGUSR2, then blocks its event loop. `node unresponsiveHost.ts SOCKET` */
const [path = ''] = process.argv.slice(2)
const description = { ipcVersion: hostIpcVersion, version: 'spinning', pid: process.pid, runtimes: [] }
process.on('SIGUSR2', () => {
  for (;;);
})
await claimSocket(path, 'Another listens.')
await listenIpc({
  path,
  handlers: {
    describe: async () => ({ result: description }),
    ping: async () => ({ result: {} }),
    'machine.list': async () => ({ result: { machines: [] } }),
  },
  open: (_, stream) => stream.end(),
  log: silentLog,
})
process.stdout.write('ready')
