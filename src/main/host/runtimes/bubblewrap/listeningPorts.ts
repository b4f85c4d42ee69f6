import { AppError } from '#shared/appError.ts'
import { parseListeningPorts } from '../inside/portsIn.ts'
import { type Entrance, enter } from './enter.ts'

/** Exceeds the output of `read_sockets` in `shared.pl` for both tables. */
const maxBytes = 8 * 1024 * 1024

/** Lists listening TCP ports, read from within the sandbox's network namespace. @see proc_pid_net(5) */
export async function listListeningPorts(entrance: Entrance): Promise<number[]> {
  const tables: Buffer[] = []
  let size = 0
  const { result, kill } = enter(entrance, {
    mode: 'ports',
    fields: [],
    onOutput(bytes) {
      size += bytes.length
      if (size <= maxBytes) tables.push(Buffer.from(bytes))
      else kill()
    },
  })
  const end = await result
  if (end.kind === 'refused') throw end.error
  if (end.kind !== 'ended') throw new AppError('exec/failed', 'The ports of the sandbox could not be read.')
  return parseListeningPorts(
    Buffer.concat(tables)
      .toString('latin1')
      .split(/^(?=\s*sl )/m),
  )
}
