import { percentile, type Samples } from '../figures.ts'
import type { Row } from '../report.ts'
import { type GatewayFigures, gatewayFigures } from './gatewayFigures.ts'

/** Added: what a gateway takes beyond the provider asked straight. The peer has no accounts and no ledger. */
export async function* gatewayRows(tries: (count: number) => number): AsyncGenerator<Row> {
  const { steward, direct, portkey, bare } = await gatewayFigures(tries)
  const portkeyFails = 'Portkey 1.15.2 answers streams with 500'
  const added = (
    what: string,
    target: string,
    of: (figures: GatewayFigures) => Samples | undefined,
    percent: number,
  ): Row => {
    const beyond = (figures: GatewayFigures) =>
      percentile(of(figures) ?? [], percent) - percentile(of(direct) ?? [], percent)
    const [mine, peer] = [beyond(steward), beyond(portkey)]
    const least = `${beyond(bare).toFixed(2)} ms (a bare proxy)`
    return {
      what: `gateway, ${what}, added p${percent}`,
      steward: `${mine.toFixed(2)} ms`,
      peer: `${Number.isNaN(peer) ? portkeyFails : `${peer.toFixed(2)} ms (Portkey)`}; ${least}`,
      ratio: Number.isNaN(peer) ? undefined : mine / peer,
      target,
    }
  }
  yield added('JSON, 1 client', '≤ 0.45 ms', ({ json }) => json, 50)
  yield added('JSON, 1 client', '≤ 2 ms', ({ json }) => json, 99)
  yield added('first event of a stream', '≤ 1.5 ms', ({ firstEvent }) => firstEvent, 50)
  const rate = (value: number) => `${Math.round(value).toLocaleString('en-US')}/s`
  const rates = (what: string, target: string, of: keyof GatewayFigures, processor: keyof GatewayFigures): Row => {
    const [mine, peer, straight] = [steward[of], portkey[of], direct[of]].map((it) => Number(it ?? Number.NaN))
    const fails = peer === undefined || Number.isNaN(peer)
    const processorOf = (figures: GatewayFigures) => `${Number(figures[processor]).toFixed(2)} ms`
    return {
      what: `gateway, ${what}`,
      steward: rate(mine ?? Number.NaN),
      processor: fails ? processorOf(steward) : `${processorOf(steward)} (Portkey ${processorOf(portkey)})`,
      peer: `${fails ? portkeyFails : `${rate(peer)} (Portkey)`}; ${rate(straight ?? Number.NaN)} straight`,
      ratio: fails || mine === undefined ? undefined : mine / peer,
      target,
    }
  }
  yield rates('JSON, 32 clients', '≥ 4,500/s', 'jsonPerSecond', 'jsonProcessorMs')
  yield rates('streams of 200 chunks, 16 clients', '≥ 1,100/s', 'streamsPerSecond', 'streamProcessorMs')
}
