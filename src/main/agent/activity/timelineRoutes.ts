import { createBytesAnswer } from '#platform/http/answers.ts'
import { exportTimeline, listTimeline, verifyTimeline } from '#shared/contract/timeline.ts'
import { listTasks, readTask } from '#shared/contract/timelineTasks.ts'
import { sortByTime } from '#shared/timeOrder.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import { type ChatTitles, listRecentTasks, sumTask } from './taskTotals.ts'
import type { Timeline } from './timeline.ts'
import { formatCsvLines, formatJsonLines } from './timelineExport.ts'
import { exportEntries, listEntries } from './timelineReading.ts'
import { verifyRows } from './verifyRows.ts'

const formats = {
  jsonl: { mediaType: 'application/x-ndjson; charset=utf-8', ending: 'jsonl', lines: formatJsonLines },
  csv: { mediaType: 'text/csv; charset=utf-8', ending: 'csv', lines: formatCsvLines },
} as const

export function createTimelineRoutes(timeline: Timeline, chatTitles: ChatTitles): LocalEndpoint[] {
  return [
    createLocalEndpoint(listTimeline, ({ query }, { signal }) => listEntries(timeline.records, query, signal)),
    createLocalEndpoint(listTasks, ({ query }) => listRecentTasks(timeline.records, query, chatTitles)),
    createLocalEndpoint(readTask, ({ params }) => sumTask(timeline.records, params.task)),
    createLocalEndpoint(verifyTimeline, (_, { signal }) => verifyRows(timeline, signal)),
    createLocalEndpoint(exportTimeline, ({ query: { format, ...filters } }) => {
      const { mediaType, ending, lines } = formats[format]
      const exported = exportEntries(timeline.records, filters)
      return createBytesAnswer({
        headers: {
          'content-type': mediaType,
          'content-disposition': `attachment; filename="steward-activity.${ending}"`,
        },
        body: lines(format === 'csv' ? sortByTime(exported, 'oldest') : exported),
      })
    }),
  ]
}
