import { networkInterfaces } from 'node:os'

/** Why what is about ::1 cannot be tried here; undefined when it can. */
export const noIpv6Loopback = Object.values(networkInterfaces())
  .flat()
  .some((it) => it?.address === '::1')
  ? undefined
  : 'this machine has no ::1'
