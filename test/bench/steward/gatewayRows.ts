import { percentile, type Samples } from '../figures.ts'
import type { Row } from '../report.ts'
import { type GatewayFigures, gatewayFigures } from './gatewayFigures.ts'

/**
 * Yields the gateway's overhead compared with direct requests to the provider. The peer has no accounts and no ledger.
 */
export async function* gatewayRows(tries: (count: number) => number): AsyncGenerator<Row> {
  const { steward, direct, portkey, bare } = await gatewayFigures(tries)
  const portkeyFails = 'Portkey 1.15.2 answers streams with 500'
  const addedRow = (
    subject: string,
    target: string,
    select: (figures: GatewayFigures) => Samples | undefined,
    percent: number,
  ): Row => {
    const beyond = (figures: GatewayFigures) =>
      percentile(select(figures) ?? [], percent) - percentile(select(direct) ?? [], percent)
    const [mine, peer] = [beyond(steward), beyond(portkey)]
    const bareText = `${beyond(bare).toFixed(2)} ms (a bare proxy)`
    return {
      subject: `gateway, ${subject}, added p${percent}`,
      steward: `${mine.toFixed(2)} ms`,
      peer: `${Number.isNaN(peer) ? portkeyFails : `${peer.toFixed(2)} ms (Portkey)`}; ${bareText}`,
      ratio: Number.isNaN(peer) ? undefined : mine / peer,
      target,
    }
  }
  yield addedRow('JSON, 1 client', '≤ 0.45 ms', ({ json }) => json, 50)
  yield addedRow('JSON, 1 client', '≤ 2 ms', ({ json }) => json, 99)
  yield addedRow('first event of a stream', '≤ 1.5 ms', ({ firstEvent }) => firstEvent, 50)
  const rate = (value: number) => `${Math.round(value).toLocaleString('en-US')}/s`
  const rates = (
    subject: string,
    target: string,
    figure: keyof GatewayFigures,
    processor: keyof GatewayFigures,
  ): Row => {
    const [mine, peer, straight] = [steward[figure], portkey[figure], direct[figure]].map((it) =>
      Number(it ?? Number.NaN),
    )
    const fails = peer === undefined || Number.isNaN(peer)
    const formatProcessor = (figures: GatewayFigures) => `${Number(figures[processor]).toFixed(2)} ms`
    return {
      subject: `gateway, ${subject}`,
      steward: rate(mine ?? Number.NaN),
      processor: fails ? formatProcessor(steward) : `${formatProcessor(steward)} (Portkey ${formatProcessor(portkey)})`,
      peer: `${fails ? portkeyFails : `${rate(peer)} (Portkey)`}; ${rate(straight ?? Number.NaN)} straight`,
      ratio: fails || mine === undefined ? undefined : mine / peer,
      target,
    }
  }
  yield rates('JSON, 32 clients', '≥ 4,500/s', 'jsonPerSecond', 'jsonProcessorMs')
  yield rates('streams of 200 chunks, 16 clients', '≥ 1,100/s', 'streamsPerSecond', 'streamProcessorMs')
}
