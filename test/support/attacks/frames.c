/*
 * Speaks TCP frame by frame through the card of a sandbox: frames pass no rule of the network layer. Arguments: an
 * address and a port. Prints a line for each way to send frames: its name, and `answered` when the port accepted a
 * connection, `silent`, or the errno of the socket.
 *
 * The kernel turns socket(AF_INET, SOCK_PACKET) into a packet socket after a filter of system calls has seen AF_INET.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { OLD_PACKETS = 10, FRAME_BYTES = 54, SYN = 2, SYN_ACK = 0x12, MOST_FRAMES = 500, MOST_SILENCES = 3 };

static const char *card = "eth0", *own = "10.0.2.15", *gateway = "10.0.2.2";
static unsigned char own_hardware[6], gateway_hardware[6];

static uint16_t sum(uint32_t total, const unsigned char *bytes, int count) {
  for (int at = 0; at < count; at += 2) total += bytes[at] << 8 | bytes[at + 1];
  while (total >> 16) total = (total & 0xffff) + (total >> 16);
  return ~total;
}

static void put16(unsigned char *at, uint16_t value) {
  at[0] = value >> 8;
  at[1] = value;
}

static void put_address(unsigned char *at, const char *text) {
  in_addr_t address = inet_addr(text);
  memcpy(at, &address, 4);
}

static void send_frame(int link, int is_old, const unsigned char *frame, size_t length) {
  if (is_old) {
    struct sockaddr_pkt to = {.spkt_family = AF_PACKET, .spkt_protocol = htons(ETH_P_IP)};
    strcpy((char *)to.spkt_device, card);
    sendto(link, frame, length, 0, (struct sockaddr *)&to, sizeof to);
  } else {
    struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = if_nametoindex(card), .sll_halen = 6};
    sendto(link, frame, length, 0, (struct sockaddr *)&to, sizeof to);
  }
}

static void frame_of(unsigned char *frame, uint16_t kind) {
  memcpy(frame, gateway_hardware, 6);
  memcpy(frame + 6, own_hardware, 6);
  put16(frame + 12, kind);
}

static void ask_for_gateway(int link, int is_old) {
  unsigned char frame[42] = {0}, head[] = {0, 1, 8, 0, 6, 4, 0, 1};
  memset(gateway_hardware, 0xff, 6);
  frame_of(frame, ETH_P_ARP);
  memcpy(frame + 14, head, sizeof head);
  memcpy(frame + 22, own_hardware, 6);
  put_address(frame + 28, own);
  put_address(frame + 38, gateway);
  send_frame(link, is_old, frame, sizeof frame);
}

static void connect_to(int link, int is_old, const char *address, uint16_t from, uint16_t port) {
  unsigned char frame[FRAME_BYTES] = {0}, *ip = frame + 14, *tcp = frame + 34;
  frame_of(frame, ETH_P_IP);
  ip[0] = 0x45;
  put16(ip + 2, 40);
  ip[8] = 64;
  ip[9] = IPPROTO_TCP;
  put_address(ip + 12, own);
  put_address(ip + 16, address);
  put16(ip + 10, sum(0, ip, 20));
  put16(tcp, from);
  put16(tcp + 2, port);
  tcp[12] = 0x50;
  tcp[13] = SYN;
  put16(tcp + 14, 60000);
  put16(tcp + 16, sum(IPPROTO_TCP + 20 + 0xffff - sum(0, ip + 12, 8), tcp, 20));
  send_frame(link, is_old, frame, sizeof frame);
}

static int is_arp_answer(const unsigned char *frame) { return frame[12] == 8 && frame[13] == 6 && frame[21] == 2; }
static int is_accepted(const unsigned char *frame, uint16_t from) {
  return frame[12] == 8 && !frame[13] && frame[23] == IPPROTO_TCP && (frame[36] << 8 | frame[37]) == from && (frame[47] & SYN_ACK) == SYN_ACK;
}

/* Returns whether a frame that `is_wanted` came; each silence asks once more. */
static const char *attempt(int link, int is_old, const char *address, uint16_t port) {
  unsigned char frame[65536];
  static uint16_t used;
  uint16_t from = 20000 + (getpid() * 3 + used++) % 30000;
  struct timeval patience = {.tv_usec = 300000};
  struct ifreq request = {0};
  setsockopt(link, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  strcpy(request.ifr_name, card);
  ioctl(link, SIOCGIFHWADDR, &request);
  memcpy(own_hardware, request.ifr_hwaddr.sa_data, 6);
  ask_for_gateway(link, is_old);
  for (int frames = 0, silences = 0, is_known = 0; frames < MOST_FRAMES && silences < MOST_SILENCES; frames++) {
    ssize_t got = recv(link, frame, sizeof frame, 0);
    if (got < 42) {
      silences++;
      if (is_known) connect_to(link, is_old, address, from, port);
      else ask_for_gateway(link, is_old);
    } else if (!is_known && is_arp_answer(frame)) {
      is_known = 1;
      memcpy(gateway_hardware, frame + 22, 6);
      connect_to(link, is_old, address, from, port);
    } else if (is_known && is_accepted(frame, from)) return "answered";
  }
  return "silent";
}

int main(int count, char **arguments) {
  struct { const char *name; int family, type, is_past_queues; } ways[] = {
    {"SOCK_PACKET of AF_INET", AF_INET, OLD_PACKETS, 0},
    {"AF_PACKET", AF_PACKET, SOCK_RAW, 0},
    {"AF_PACKET past the queues", AF_PACKET, SOCK_RAW, 1},
  };
  for (size_t index = 0; index < sizeof ways / sizeof *ways; index++) {
    int link = socket(ways[index].family, ways[index].type, htons(ETH_P_ALL));
    if (link < 0) {
      printf("%s\t%d\n", ways[index].name, errno);
      continue;
    }
    int is_past_queues = ways[index].is_past_queues;
    setsockopt(link, SOL_PACKET, PACKET_QDISC_BYPASS, &is_past_queues, sizeof is_past_queues);
    printf("%s\t%s\n", ways[index].name, attempt(link, ways[index].type == OLD_PACKETS, arguments[1], atoi(arguments[2])));
    close(link);
  }
  return 0;
}
