import { type Row, timeRow } from '../report.ts'
import { domainFigures } from './domainFigures.ts'

export async function* domainRows(tries: (count: number) => number): AsyncGenerator<Row> {
  const { checked, listed, offline } = await domainFigures(tries)
  yield timeRow('200 names checked, test registry', '≤ 10 ms', { mine: checked, percent: 50 })
  yield timeRow('the cached list of 5,000 domains', '≤ 30 ms', { mine: listed, percent: 50 })
  yield timeRow('the same without the service', '≤ 30 ms', { mine: offline, percent: 50 })
}
