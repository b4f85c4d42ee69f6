import { milliseconds, percentile } from '../figures.ts'
import { type Row, timeRow } from '../report.ts'
import { toolFigures } from './toolFigures.ts'

export async function* toolRows(tries: (count: number) => number): AsyncGenerator<Row> {
  const { calls, listing, tokens, busy } = await toolFigures(tries)
  for (const { revision, target, call } of calls) {
    const [tool, rest] = [percentile(call.mine, 50), percentile(call.peer, 50)]
    yield {
      subject: `a tool call over MCP ${revision}, added to its REST call at the ${target}, p50`,
      steward: `${(tool - rest).toFixed(2)} ms`,
      peer: `${tool.toFixed(2)} ms, and ${rest.toFixed(2)} ms by REST`,
      ratio: tool / rest,
      target: '≤ 1 ms',
    }
  }
  const peerName = 'conway-terminal 2.0.9, over stdio'
  yield timeRow('all tools listed over HTTP', '–', { ...listing, peerName, percent: 50 })
  yield {
    subject: 'what a model reads of all tools (o200k)',
    steward: `${tokens.mine} tokens`,
    peer: `${tokens.peer} tokens (conway-terminal 2.0.9)`,
    ratio: tokens.mine / tokens.peer,
    target: '≤ 4,000',
  }
  yield {
    subject: `20 clients of tools for ${busy.seconds} s: calls, p50 and p99`,
    steward: `${busy.calls.toLocaleString('en-US')}; ${milliseconds(percentile(busy.times, 50))}, ${milliseconds(percentile(busy.times, 99))}; ${busy.wrong} lost or crossed`,
    peer: '–',
    ratio: undefined,
    target: '0 lost or crossed',
  }
}
