// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {TestPermit2} from "./TestPermit2.sol";

/// What the contract of `upto` promises: its facilitator alone takes what was used, and the payee that was signed gets it.
/// https://github.com/x402-foundation/x402/blob/main/specs/schemes/upto/scheme_upto_evm.md
contract TestUptoProxy {
    TestPermit2 private constant permit2 = TestPermit2(0x000000000022D473030F116dDEE9F6B43aC78BA3);

    struct Witness {
        address to;
        address facilitator;
        uint256 validAfter;
    }

    function settle(
        TestPermit2.PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external {
        require(msg.sender == witness.facilitator, "facilitator");
        require(block.timestamp >= witness.validAfter, "early");
        bytes32 hash = keccak256(
            abi.encode(
                keccak256("Witness(address to,address facilitator,uint256 validAfter)"),
                witness.to,
                witness.facilitator,
                witness.validAfter
            )
        );
        permit2.permitWitnessTransferFrom(
            permit,
            TestPermit2.SignatureTransferDetails(witness.to, amount),
            owner,
            hash,
            "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,address facilitator,uint256 validAfter)",
            signature
        );
    }
}
