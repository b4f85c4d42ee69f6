import { type Row, timeRow } from '../report.ts'
import { timelineFigures } from './timelineFigures.ts'

export async function* timelineRows(tries: (count: number) => number): AsyncGenerator<Row> {
  const { added, common, rare, opened, tasks } = await timelineFigures(tries)
  yield timeRow('100,000 entries of activity: one more', '–', { mine: added, percent: 50 })
  yield timeRow('the newest 100 of them, p95', '≤ 30 ms', { mine: opened, percent: 95 })
  yield timeRow('those with a word that a tenth has, p95', '≤ 30 ms', { mine: common, percent: 95 })
  yield timeRow('those with words that one has, p95', '≤ 30 ms', { mine: rare, percent: 95 })
  yield timeRow('the newest 50 tasks of 20,000, p95', '≤ 30 ms', { mine: tasks, percent: 95 })
}
