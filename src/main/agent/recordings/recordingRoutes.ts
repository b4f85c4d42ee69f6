import { createBytesAnswer } from '#platform/http/answers.ts'
import {
  deleteRecording,
  deleteRecordings,
  listRecordings,
  type Recording,
  readRecording,
} from '#shared/contract/recordings.ts'
import { toIsoTime } from '#shared/time.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { CastFiles } from './castFiles.ts'
import type { RecordingRepository, RecordingRow } from './recordingRepository.ts'
import type { Recordings } from './recordings.ts'

export function createRecordingRoutes(parts: {
  recordings: Recordings
  records: Pick<RecordingRepository, 'list' | 'sums'>
  files: Pick<CastFiles, 'read'>
}): LocalEndpoint[] {
  const { recordings, records, files } = parts
  return [
    createLocalEndpoint(listRecordings, ({ query: { sandbox_id, terminal_id, offset, limit } }) => {
      const filter = { sandboxId: sandbox_id, terminalId: terminal_id }
      return { recordings: records.list({ ...filter, offset, limit }).map(toWire), ...records.sums(filter) }
    }),
    createLocalEndpoint(readRecording, ({ params }) => {
      const { id, bytes } = recordings.find(params.recordingId)
      return createBytesAnswer({
        headers: {
          'content-type': 'application/x-asciicast',
          'content-length': String(bytes),
          'content-disposition': `attachment; filename="steward-${id}.cast"`,
        },
        body: files.read(id, bytes),
      })
    }),
    createLocalEndpoint(deleteRecording, async ({ params }) => {
      await recordings.delete(params.recordingId)
      return { success: true }
    }),
    createLocalEndpoint(deleteRecordings, async () => ({ deleted: await recordings.deleteAll() })),
  ]
}

function toWire({ id, state, ...row }: RecordingRow): Recording {
  return {
    id,
    sandbox_id: row.sandboxId,
    sandbox_name: row.sandboxName,
    terminal_id: row.terminalId,
    command: row.command,
    started_at: toIsoTime(row.startedAtMs),
    duration_ms: row.durationMs,
    bytes: row.bytes,
    state: state === 'deleted' ? 'ended' : state,
    missed: row.missed,
  }
}
