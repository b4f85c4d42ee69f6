/**
 * Requests of ioctl(2) that programs in a sandbox may make. All others fail with ENOTTY, as if the file did not support
 * them. Notable exclusions are requests that type into other terminals (TIOCSTI), select line disciplines (TIOCSETD) or
 * change a file system (FIFREEZE, FITRIM, those of ext4). Numbers from <asm/ioctls.h>, <linux/fs.h>, <linux/sockios.h>
 * and <linux/random.h> are the same on x64 and arm64. The selection covers the requests that strace(1) recorded for
 * Debian's programs, and their counterparts.
 */
export const allowedIoctls: Readonly<Record<string, number>> = {
  // Terminals.
  TCGETS: 0x5401,
  TCSETS: 0x5402,
  TCSETSW: 0x5403,
  TCSETSF: 0x5404,
  TCGETS2: 0x802c542a,
  TCSETS2: 0x402c542b,
  TCSETSW2: 0x402c542c,
  TCSETSF2: 0x402c542d,
  TCGETA: 0x5405,
  TCSETA: 0x5406,
  TCSETAW: 0x5407,
  TCSETAF: 0x5408,
  TCSBRK: 0x5409,
  TCSBRKP: 0x5425,
  TCXONC: 0x540a,
  TCFLSH: 0x540b,
  TIOCGWINSZ: 0x5413,
  TIOCSWINSZ: 0x5414,
  TIOCGPGRP: 0x540f,
  TIOCSPGRP: 0x5410,
  TIOCGSID: 0x5429,
  TIOCSCTTY: 0x540e,
  TIOCNOTTY: 0x5422,
  TIOCEXCL: 0x540c,
  TIOCNXCL: 0x540d,
  TIOCGEXCL: 0x80045440,
  TIOCOUTQ: 0x5411,
  TIOCGETD: 0x5424,
  // Pseudo-terminal masters.
  TIOCGPTN: 0x80045430,
  TIOCSPTLCK: 0x40045431,
  TIOCGPTLCK: 0x80045439,
  TIOCGPTPEER: 0x5441,
  TIOCPKT: 0x5420,
  TIOCGPKT: 0x80045438,
  // All kinds of files.
  FIONREAD: 0x541b,
  FIONBIO: 0x5421,
  FIOASYNC: 0x5452,
  FIOCLEX: 0x5451,
  FIONCLEX: 0x5450,
  FIOQSIZE: 0x5460,
  FIGETBSZ: 0x2,
  FIOSETOWN: 0x8901,
  FIOGETOWN: 0x8903,
  SIOCSPGRP: 0x8902,
  SIOCGPGRP: 0x8904,
  // Files on disk: shared blocks, extents, attributes.
  FICLONE: 0x40049409,
  FICLONERANGE: 0x4020940d,
  FIDEDUPERANGE: 0xc0189436,
  FS_IOC_FIEMAP: 0xc020660b,
  FS_IOC_GETFLAGS: 0x80086601,
  FS_IOC_GETVERSION: 0x80087601,
  FS_IOC_FSGETXATTR: 0x801c581f,
  // Network cards (read only) and open sockets.
  SIOCGIFCONF: 0x8912,
  SIOCGIFNAME: 0x8910,
  SIOCGIFINDEX: 0x8933,
  SIOCGIFFLAGS: 0x8913,
  SIOCGIFADDR: 0x8915,
  SIOCGIFNETMASK: 0x891b,
  SIOCGIFBRDADDR: 0x8919,
  SIOCGIFDSTADDR: 0x8917,
  SIOCGIFHWADDR: 0x8927,
  SIOCGIFMTU: 0x8921,
  SIOCGIFMETRIC: 0x891d,
  SIOCGIFTXQLEN: 0x8942,
  SIOCGIFMAP: 0x8970,
  SIOCATMARK: 0x8905,
  // Random numbers.
  RNDGETENTCNT: 0x80045200,
}

/**
 * Sockets that programs may open: a family with its allowed types and protocols. Others could bypass the network rules
 * (packet and XDP sockets, and SOCK_PACKET, which the kernel converts to one), reach the hypervisor (AF_VSOCK), or
 * increase the attack surface. Numbers from <linux/socket.h>.
 */
export type SocketKind = {
  family: number
  types: readonly { type: number /** defaults to all */; protocols?: readonly number[] }[]
}

const stream = 1
const datagram = 2
const raw = 3
const sequentialPackets = 5

export const socketKinds: readonly SocketKind[] = [
  // AF_UNIX
  { family: 1, types: [{ type: stream }, { type: datagram }, { type: sequentialPackets }] },
  // AF_INET: TCP, UDP and echo requests
  {
    family: 2,
    types: [
      { type: stream, protocols: [0, 6] },
      { type: datagram, protocols: [0, 17, 1] },
    ],
  },
  // AF_INET6: the same
  {
    family: 10,
    types: [
      { type: stream, protocols: [0, 6] },
      { type: datagram, protocols: [0, 17, 58] },
    ],
  },
  // AF_NETLINK: routes, sockets and devices, read only
  {
    family: 16,
    types: [
      { type: datagram, protocols: [0, 4, 15] },
      { type: raw, protocols: [0, 4, 15] },
    ],
  },
]

/** Flags of clone(2) except those that create a namespace; the lowest byte is the exit signal. */
export const allowedCloneFlags =
  0xff | // CSIGNAL
  0x100 | // CLONE_VM
  0x200 | // CLONE_FS
  0x400 | // CLONE_FILES
  0x800 | // CLONE_SIGHAND
  0x1000 | // CLONE_PIDFD
  0x2000 | // CLONE_PTRACE
  0x4000 | // CLONE_VFORK
  0x8000 | // CLONE_PARENT
  0x10000 | // CLONE_THREAD
  0x40000 | // CLONE_SYSVSEM
  0x80000 | // CLONE_SETTLS
  0x100000 | // CLONE_PARENT_SETTID
  0x200000 | // CLONE_CHILD_CLEARTID
  0x400000 | // CLONE_DETACHED
  0x800000 | // CLONE_UNTRACED
  0x1000000 | // CLONE_CHILD_SETTID
  0x80000000 // CLONE_IO

/** Flags of unshare(2): CLONE_FS, CLONE_FILES and CLONE_SYSVSEM. */
export const allowedUnshareFlags = 0x40600

/**
 * Allowed values of personality(2): PER_LINUX and PER_LINUX32, each with and without UNAME26; PER_LINUX with
 * ADDR_NO_RANDOMIZE, for debuggers; and the query for the current value.
 */
export const allowedPersonalities: readonly number[] = [0, 0x8, 0x20000, 0x20008, 0x40000, 0xffffffff]
