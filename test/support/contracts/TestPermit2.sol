// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// What Permit2 does that `upto` uses, by its documentation: a transfer by signature with a witness, once for each nonce.
/// https://docs.uniswap.org/contracts/permit2/reference/signature-transfer
contract TestPermit2 {
    struct TokenPermissions {
        address token;
        uint256 amount;
    }
    struct PermitTransferFrom {
        TokenPermissions permitted;
        uint256 nonce;
        uint256 deadline;
    }
    struct SignatureTransferDetails {
        address to;
        uint256 requestedAmount;
    }

    mapping(address => mapping(uint256 => uint256)) public nonceBitmap;

    function permitWitnessTransferFrom(
        PermitTransferFrom calldata permit,
        SignatureTransferDetails calldata details,
        address owner,
        bytes32 witness,
        string calldata witnessTypes,
        bytes calldata signature
    ) external {
        require(block.timestamp <= permit.deadline, "expired");
        require(details.requestedAmount <= permit.permitted.amount, "amount");
        uint256 bit = 1 << uint8(permit.nonce);
        require(nonceBitmap[owner][permit.nonce >> 8] & bit == 0, "nonce");
        nonceBitmap[owner][permit.nonce >> 8] |= bit;
        require(ECDSA.recover(digest(permit, witness, witnessTypes), signature) == owner, "signature");
        require(IERC20(permit.permitted.token).transferFrom(owner, details.to, details.requestedAmount), "transfer");
    }

    function digest(PermitTransferFrom calldata permit, bytes32 witness, string calldata witnessTypes)
        private
        view
        returns (bytes32)
    {
        bytes32 permissions = keccak256(
            abi.encode(
                keccak256("TokenPermissions(address token,uint256 amount)"),
                permit.permitted.token,
                permit.permitted.amount
            )
        );
        bytes32 types = keccak256(
            abi.encodePacked(
                "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,",
                witnessTypes
            )
        );
        bytes32 content = keccak256(abi.encode(types, permissions, msg.sender, permit.nonce, permit.deadline, witness));
        bytes32 domain = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)"),
                keccak256("Permit2"),
                block.chainid,
                address(this)
            )
        );
        return keccak256(abi.encodePacked(hex"1901", domain, content));
    }
}
