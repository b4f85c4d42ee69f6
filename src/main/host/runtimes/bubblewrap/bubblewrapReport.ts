import type { Enforced, RuntimeReport } from '#shared/contract/sandboxes.ts'
import type { BubblewrapContext } from './bubblewrapContext.ts'
import { findSystemObstacle } from './images/bubblewrapImages.ts'

const nothing: Enforced = { memory: false, cpu: false, disk: false, processes: false }

export async function describeBubblewrap(
  name: string,
  { support, users }: Pick<BubblewrapContext, 'support' | 'users'>,
): Promise<RuntimeReport> {
  const [{ tools, detail, cure, enforced, gaps }, ofOwn] = await Promise.all([support.probe(), users.networks(true)])
  const networks = ofOwn.tools ? ofOwn : await users.networks(false)
  const shares = tools && (await users.obstacle())
  const [images, noSystem] = await Promise.all([support.probeImages(), findSystemObstacle()])
  return {
    name,
    available: tools !== undefined,
    detail: shares === undefined ? detail : `${detail.replace(/\.$/, '')}. ${shares}`,
    cure,
    enforced: tools ? enforced : nothing,
    limit_gaps: tools ? [...gaps] : [],
    networks: networks.networks,
    network_detail: networks.detail,
    network_cure: networks.cure,
    image_sources: !images.range ? [] : noSystem === undefined ? ['system', 'archive'] : ['archive'],
    image_detail: images.detail ?? noSystem ?? null,
  }
}
